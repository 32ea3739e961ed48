import type { Client } from "@connectrpc/connect";
import type { ListKeysResponse, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { withinDeadline } from "@vidimus/kit/deadline";
import { type CopyKeeper, NewestCopy } from "@vidimus/kit/newest-copy";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Metrics } from "@vidimus/kit/telemetry/metrics";
import { serializeDictionary } from "structured-headers";

export interface StatedTrustList {
  /** Revision of the key ring; greater after each change of the list. */
  readonly revision: number;
  /** The body of `GET /api/keys`, byte for byte as it was stated. */
  readonly body: string;
  /** Value of the header `Vidimus-Trust-Statement`: base64. */
  readonly statement: string;
  /** Value of the header `Vidimus-Trust-Signature`: a dictionary of RFC 9651. */
  readonly signature: string;
}

type TrustListKeeper = CopyKeeper<StatedTrustList, StatedTrustList>;

export type TrustListCache = () => Promise<StatedTrustList>;

interface TrustListDeps {
  readonly signing: Pick<Client<typeof TrustListService>, "listKeys">;
  /** Keeps the newest list across restarts: `store/trust-list-store.ts`. */
  readonly keeper: TrustListKeeper;
  readonly log: Pick<Logger, "warn" | "error">;
  readonly registry: Metrics["registry"];
}

const freshMs = 1_000;
/**
 * While signing does not answer, a copy is served for a day, so that receivers can still verify.
 * They refuse a list that was stated more than 25 hours ago.
 */
const lastGoodMs = 86_400_000;
const askTimeoutMs = 2_000;
/** With a copy in memory, a request waits at most this long for a slow signing. */
const patienceMs = 250;
/** Short, because the answer does not need the database. */
const keeperTimeoutMs = 1_000;
/** An unchanged list is stored again after this time, to renew its age. */
const keepEveryMs = 600_000;

/**
 * Caches the trust list for a second. Requests that come while signing is being asked share that
 * call. A list that is older than one that any gateway has served, even before a restart, is not
 * served: it may list keys that were revoked since. While the database does not answer, only lists
 * that this process has served or read count.
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

/** When the keeper fails or takes 1 s, `read` finds nothing and `keep` returns the given list. */
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
