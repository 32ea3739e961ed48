import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Collection, Db } from "mongodb";
import { expiryOf, type Session } from "../domain/session.ts";
import type { Identity } from "@vidimus/kit/rpc/context/person";

/** A session; `_id` is the SHA-256 of the id in its cookie, in hex. */
interface SessionRow extends Omit<Session, "identity"> {
  _id: string;
  issuer: string;
  subject: string;
  expiresAt: Date;
}

const seenEveryMs = 60_000;
const listMax = 100;
const answerMsMax = 2_000;
/** Most sessions whose identity a process remembers. */
const rememberedMax = 1_000;

/** Sessions belong to people, so neither methods nor indexes begin with a tenant. */
export class SessionStore {
  static readonly indexes: DatabaseIndexes = {
    sessions: {
      person: { key: { issuer: 1, subject: 1, lastSeenAt: -1 } },
      ended: { key: { expiresAt: 1 }, expireAfterSeconds: 0 },
    },
  };
  readonly #sessions: Collection<SessionRow>;
  readonly #identities = new LRUCache<string, Identity>({ max: rememberedMax });

  constructor(db: Db) {
    this.#sessions = db.collection<SessionRow>("sessions");
  }

  async insert(cookieId: string, session: Session): Promise<void> {
    await this.#sessions.insertOne(toRow(cookieId, session));
  }

  /** Finds a session that has not ended by `now`. */
  async find(cookieId: string, now: Date): Promise<Session | undefined> {
    // MongoDB deletes expired rows only once a minute, so the filter leaves them out.
    const _id = hashOf(cookieId);
    const row = await this.#sessions.findOne({ _id, expiresAt: { $gt: now } }, { maxTimeMS: answerMsMax });
    if (!row) {
      this.#identities.delete(_id);
      return undefined;
    }
    const session = fromRow(row);
    this.#identities.set(_id, session.identity);
    return session;
  }

  /**
   * The identity of a session that this process found and remembers; else undefined. The identity
   * of a session never changes, but the session may have ended meanwhile.
   */
  identityOf(cookieId: string): Identity | undefined {
    return this.#identities.get(hashOf(cookieId));
  }

  /** Notes that a session was used, which postpones its end, unless noted in the last minute. */
  async see(cookieId: string, session: Session, now: Date): Promise<void> {
    if (now.getTime() - session.lastSeenAt.getTime() < seenEveryMs) return;
    const seen = { lastSeenAt: now, expiresAt: expiryOf({ ...session, lastSeenAt: now }) };
    await this.#sessions.updateOne({ _id: hashOf(cookieId) }, { $set: seen });
  }

  async chooseTenant(cookieId: string, tenantId: string): Promise<void> {
    await this.#sessions.updateOne({ _id: hashOf(cookieId) }, { $set: { tenantId } });
  }

  /** A person's sessions that have not ended by `now`, last used first; at most 100. */
  async list({ issuer, subject }: Identity, now: Date): Promise<Session[]> {
    const rows = await this.#sessions
      .find({ issuer, subject, expiresAt: { $gt: now } }, { maxTimeMS: answerMsMax })
      .sort({ lastSeenAt: -1 })
      .limit(listMax)
      .toArray();
    return rows.map(fromRow);
  }

  async end(cookieId: string): Promise<void> {
    await this.#sessions.deleteOne({ _id: hashOf(cookieId) });
  }

  /** Has no effect when the person has no session with this id. */
  async endOne({ issuer, subject }: Identity, sessionId: string): Promise<void> {
    await this.#sessions.deleteOne({ issuer, subject, sessionId });
  }
}

function hashOf(cookieId: string): string {
  return createHash("sha256").update(cookieId).digest("hex");
}

function toRow(cookieId: string, session: Session): SessionRow {
  const { identity, ...rest } = session;
  return { _id: hashOf(cookieId), ...identity, ...rest, expiresAt: expiryOf(session) };
}

function fromRow(row: SessionRow): Session {
  const { _id, issuer, subject, expiresAt: _expiresAt, ...rest } = row;
  return { identity: { issuer, subject }, ...rest };
}
