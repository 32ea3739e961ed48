import type { Client } from "@connectrpc/connect";
import type { ListKeysResponse, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { withinDeadline } from "@vidimus/kit/deadline";
import { type CopyKeeper, NewestCopy } from "@vidimus/kit/newest-copy";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { serializeDictionary } from "structured-headers";

/** The trust list as signing stated it. */
export interface StatedTrustList {
  /** Of the key ring; greater after each change of the list. */
  readonly revision: number;
  /** The body of `GET /api/keys`, as it was stated byte for byte. */
  readonly body: string;
  /** Of the header `Vidimus-Trust-Statement`: base64. */
  readonly statement: string;
  /** Of the header `Vidimus-Trust-Signature`: a dictionary of RFC 9651. */
  readonly signature: string;
}

type TrustListKeeper = CopyKeeper<StatedTrustList, StatedTrustList>;

/** Answers the trust list, from memory while the copy is fresh. */
export type TrustListCache = () => Promise<StatedTrustList>;

interface TrustListDeps {
  readonly signing: Pick<Client<typeof TrustListService>, "listKeys">;
  /** Keeps the newest list over restarts: `store/trust-list-store.ts`. */
  readonly keeper: TrustListKeeper;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly registry: Metrics["registry"];
}

const freshMs = 1_000;
/**
 * While signing does not answer, a copy is served for a day, so that receivers can go on verifying.
 * They refuse one that was stated more than 25 hours ago.
 */
const lastGoodMs = 86_400_000;
const askTimeoutMs = 2_000;
/** With a copy at hand, a request waits no longer than this for a signing that is slow. */
const patienceMs = 250;
/** The database is not needed to answer. */
const keeperTimeoutMs = 1_000;
/** How often the age of an unchanged list is stored. */
const keepEveryMs = 600_000;

/**
 * Keeps the trust list for a second, and makes one call for all requests that come meanwhile. A list
 * that is older than one that any gateway has served, also before a restart, is not served: it would
 * list keys that were revoked since.
 */
export function trustListCache({ signing, keeper, log, registry }: TrustListDeps): TrustListCache {
  const newest = new NewestCopy({
    name: "trust_list",
    ask: async () => fromProto(await signing.listKeys({}, { timeoutMs: askTimeoutMs })),
    keeper: withoutDatabase(keeper, log),
    keepEveryMs,
    log,
    registry,
  });
  const served = () => (newest.ageMs <= lastGoodMs ? newest.copy : undefined);
  let askedAt = Number.NEGATIVE_INFINITY;
  const ask = async () => {
    askedAt = performance.now();
    try {
      await newest.look();
    } catch (error) {
      if (!served()) throw error;
    }
  };
  let asking: Promise<void> | undefined;
  return async () => {
    const isFresh = performance.now() - askedAt < freshMs;
    if (!served() || !isFresh) {
      asking ??= ask().finally(() => (asking = undefined));
      if (served()) await withinDeadline(asking, patienceMs).catch(() => {});
      else await asking;
    }
    const list = newest.copy;
    if (!list) throw new Error("no trust list was kept");
    return list;
  };
}

/** A keeper whose database may be away: this process goes on with what it knows. */
function withoutDatabase(keeper: TrustListKeeper, log: Pick<Logger, "warn">): TrustListKeeper {
  const orElse = async <T>(otherwise: T, failure: string, act: () => Promise<T>): Promise<T> => {
    let result = otherwise;
    const acting = act().then((value) => void (result = value));
    try {
      if (!(await withinDeadline(acting, keeperTimeoutMs))) log.warn({}, failure);
    } catch (error) {
      log.warn({ err: error }, failure);
    }
    return result;
  };
  return {
    read: () => orElse(undefined, "could not read the kept trust list", () => keeper.read()),
    keep: (list) => orElse(list, "could not keep the trust list", () => keeper.keep(list)),
  };
}

function fromProto({ revision, body, stated }: ListKeysResponse): StatedTrustList {
  if (!stated) throw new Error("signing answered a trust list without a statement");
  const { statement, keyId, publicKey, signature, delegation } = stated;
  const parts = { keyid: keyId, key: Buffer.from(publicKey), sig: Buffer.from(signature) };
  return {
    revision: Number(revision),
    body: Buffer.from(body).toString(),
    statement: Buffer.from(statement).toString("base64"),
    signature: serializeDictionary(delegation ? { ...parts, delegation: Buffer.from(delegation) } : parts),
  };
}
