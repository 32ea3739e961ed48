import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { createHash } from "node:crypto";
import { type Collection, type Db, MongoServerError } from "mongodb";
import { sessionMsMax } from "../domain/session.ts";

/** What a form has made, for whoever sends the form again. Never a secret. */
export interface MadeByForm {
  /** Page that shows what was made, or on which its secret is replaced or revoked. */
  readonly path: string;
  /** Name that `sentBefore` shows; missing for a form that makes no secret. */
  readonly name?: string;
}

interface SentForm {
  readonly takenAt: Date;
  /** False while a console does what the form asks for, and for ever when that console dies. */
  readonly isEnded: boolean;
  /** Missing while the form has not ended, and when its effect is not known. */
  readonly made?: MadeByForm;
}

/** `_id` is the SHA-256 of the sender and the token of a form, in hex. */
interface SentFormRow {
  _id: string;
  expiresAt: Date;
  isEnded?: true;
  made?: MadeByForm;
}

const duplicateKey = 11_000;

/**
 * Keeps which forms were sent, so that each takes effect once. Forms belong to people, not to
 * tenants.
 */
export class SentFormStore {
  static readonly indexes: DatabaseIndexes = {
    sent_forms: { ended: { key: { expiresAt: 1 }, expireAfterSeconds: 0 } },
  };
  readonly #forms: Collection<SentFormRow>;

  constructor(db: Db) {
    this.#forms = db.collection<SentFormRow>("sent_forms");
  }

  /** Notes that a person has sent a form. False when it was noted before. */
  async take(memberId: string, token: string, now: Date): Promise<boolean> {
    // The row is kept as long as the longest session. A form that is sent again later, in another
    // session, takes effect again.
    const row = { _id: idOf(memberId, token), expiresAt: new Date(now.getTime() + sessionMsMax) };
    try {
      await this.#forms.insertOne(row);
      return true;
    } catch (error) {
      if (error instanceof MongoServerError && error.code === duplicateKey) return false;
      throw error;
    }
  }

  /** The form, if it was taken and not released. */
  async find(memberId: string, token: string): Promise<SentForm | undefined> {
    const row = await this.#forms.findOne({ _id: idOf(memberId, token) });
    if (!row) return undefined;
    const takenAt = new Date(row.expiresAt.getTime() - sessionMsMax);
    return { takenAt, isEnded: row.isEnded ?? false, ...(row.made && { made: row.made }) };
  }

  /**
   * Notes that a form has taken effect, or may have taken effect. `made` is what it made, where
   * that is known.
   */
  async end(memberId: string, token: string, made?: MadeByForm): Promise<void> {
    const _id = idOf(memberId, token);
    await this.#forms.updateOne({ _id }, { $set: { isEnded: true, ...(made && { made }) } });
  }

  /** Lets a form that had no effect be sent again. */
  async release(memberId: string, token: string): Promise<void> {
    await this.#forms.deleteOne({ _id: idOf(memberId, token) });
  }
}

function idOf(memberId: string, token: string): string {
  return createHash("sha256").update(`${memberId}\n${token}`).digest("hex");
}
