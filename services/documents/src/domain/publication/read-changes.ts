import type { ChangeSignal } from "./change-signal.ts";
import { beginning, type ChangeToken, decodeChangeToken, encodeChangeToken } from "./change-token.ts";
import { joinItems } from "./join-items.ts";
import type { PagePosition } from "./page-cursor.ts";
import { publishableTypes } from "./publishable-types.ts";
import type { PublicationState } from "./read-document.ts";

/** Which publications, oldest first; ties by id, ascending. */
export interface ChangeQuery {
  readonly types: readonly string[];
  readonly after: PagePosition;
  /** Tombstones up to this tick are left out. */
  readonly began: Date;
  readonly limit: number;
}

/** What reading changes needs. */
export interface ChangeDeps {
  stamp(tenantId: string): Promise<Date | undefined>;
  /** At most `limit` publications, fewer when they hold `bytesMax` bytes (one at least); `hasMore` when there are others. */
  listChanges(
    tenantId: string,
    query: ChangeQuery,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<{ changes: PublicationState[]; hasMore: boolean }>;
  readonly signal: Pick<ChangeSignal, "listen">;
}

/** What a reader asks for. */
export interface ChangeRequest {
  /** "" to begin. */
  readonly since: string;
  /** "" for every publishable type. */
  readonly type: string;
  readonly limit: number;
  /** How long to wait when there is nothing. */
  readonly waitMs: number;
}

/** Changes, and the token to go on from. */
export interface ChangeAnswer {
  readonly itemsJson: Uint8Array;
  readonly since: string;
  readonly hasMore: boolean;
}

const bytesMax = 4 * 1024 * 1024;

/** How long to trust that a change is signalled: signals of other processes go through the broker, which may be away. */
const lookAgainMs = 1_000;

/**
 * Reads what was published and withdrawn since a token, and waits for it if there is nothing. Ticks are committed in
 * their order, so whatever is committed later stands behind everything that was read: nobody who goes on from the last
 * change he read can miss one.
 */
export async function readChanges(
  deps: ChangeDeps,
  tenantId: string,
  request: ChangeRequest,
  signal: AbortSignal,
): Promise<ChangeAnswer> {
  const token = request.since === "" ? await begin(deps, tenantId) : decodeChangeToken(request.since);
  const until = Date.now() + request.waitMs;
  for (;;) {
    // Before the read, so that what is committed during it is not slept through.
    using listener = deps.signal.listen(tenantId);
    const answer = await read(deps, tenantId, token, request, signal);
    const leftMs = until - Date.now();
    if (answer.found || leftMs <= 0) return answer;
    if ((await listener.within(Math.min(leftMs, lookAgainMs), signal)) === "closed") return answer;
  }
}

/** The tick is read before the first documents: a removal after it is told. */
async function begin(deps: ChangeDeps, tenantId: string): Promise<ChangeToken> {
  return { after: beginning, began: (await deps.stamp(tenantId)) ?? new Date(0) };
}

async function read(
  deps: ChangeDeps,
  tenantId: string,
  token: ChangeToken,
  { type, limit }: ChangeRequest,
  signal: AbortSignal,
): Promise<ChangeAnswer & { found: boolean }> {
  const types = type === "" ? publishableTypes : [type];
  const { changes, hasMore } = await deps.listChanges(tenantId, { types, ...token, limit }, bytesMax, signal);
  const after = changes.at(-1) ?? token.after;
  const since = encodeChangeToken({ ...token, after });
  return { itemsJson: joinItems(changes.map(toItem)), since, hasMore, found: changes.length > 0 };
}

function toItem({ documentId: id, type, version, sequence, updatedAt, bytes }: PublicationState): Uint8Array[] {
  const change = bytes ? "upsert" : "withdraw";
  const head = JSON.stringify({ change, id, type, version, sequence, updated_at: updatedAt.toISOString() });
  if (!bytes) return [Buffer.from(head)];
  return [Buffer.from(`${head.slice(0, -1)},"document":`), bytes, Buffer.from("}")];
}
