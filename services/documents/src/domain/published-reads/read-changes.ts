import type { ChangeSignal } from "./change-signal.ts";
import {
  beginning,
  type ChangeToken,
  decodeChangeToken,
  encodeChangeToken,
  endOf,
  isBefore,
  later,
} from "./change-token.ts";
import { joinItems } from "./join-items.ts";
import type { PagePosition } from "./page-cursor.ts";
import { publishableTypes } from "./publishable-types.ts";
import type { PublicationState } from "./published-document.ts";
import { type ClockReader, type ClockReading, lastTouched, type ReadAt } from "./tenant-clock.ts";

/** Which publications are listed, oldest first; ties by id, ascending. */
export interface ChangeQuery {
  readonly types: readonly string[];
  readonly after: PagePosition;
  /** Tombstones up to this tick are left out. */
  readonly began: Date;
  readonly limit: number;
}

export interface ListPublishedChangesDeps {
  readonly clocks: Pick<ClockReader, "read">;
  readonly publications: {
    /**
     * At most `limit` publications, fewer when more would exceed `bytesMax` bytes, but at least
     * one; `hasMore` when there are others.
     */
    listChanges(
      tenantId: string,
      query: ChangeQuery,
      bytesMax: number,
      at: ReadAt,
    ): Promise<{ changes: PublicationState[]; hasMore: boolean }>;
  };
  readonly changeSignal: Pick<ChangeSignal, "listen">;
}

interface ChangeRequest {
  /** `since` of the answer before; "" to begin. */
  readonly since: string;
  /** "" for every publishable type. */
  readonly type: string;
  readonly limit: number;
  /** Milliseconds to wait when there are no changes. */
  readonly waitMs: number;
}

/** Changes, and the token for the next request. */
interface ChangeAnswer {
  readonly itemsJson: Uint8Array;
  readonly since: string;
  readonly hasMore: boolean;
}

const bytesMax = 4 * 1024 * 1024;

/**
 * Reads the changes since a token; waits up to `waitMs` when there are none. Ticks are committed in
 * order, so later commits come after all that was read and the token misses nothing. A wait reads
 * only the clock until it shows a change of the requested types.
 */
export async function readChanges(
  deps: ListPublishedChangesDeps,
  tenantId: string,
  request: ChangeRequest,
  signal: AbortSignal,
): Promise<ChangeAnswer> {
  const until = Date.now() + request.waitMs;
  let token = request.since === "" ? undefined : decodeChangeToken(request.since, request.type);
  for (;;) {
    // Listens before the read, so that a commit during the read ends the wait.
    using listener = request.waitMs > 0 ? deps.changeSignal.listen(tenantId, request.type) : undefined;
    const clock = await deps.clocks.read(tenantId);
    token ??= begin(clock);
    const { changes, hasMore, after } = await read(deps, tenantId, token, clock, request, signal);
    token = { ...token, after };
    const leftMs = until - Date.now();
    const isOver = !listener || changes.length > 0 || leftMs <= 0;
    if (isOver || (await listener.within(leftMs, signal)) !== "signalled")
      return toAnswer(changes, encodeChangeToken(token, request.type), hasMore);
  }
}

/** The tick is read before the first documents, so that every later removal is listed. */
function begin({ tick }: ClockReading): ChangeToken {
  return { after: beginning, began: tick ?? new Date(0) };
}

/**
 * Lists changes if the clock shows that there may be any. The clock is read first, so at the end of
 * the list everything up to the last tick has been examined and `after` advances to it: a reader of
 * a rarely published type does not scan the changes of other types twice.
 */
async function read(
  deps: Pick<ListPublishedChangesDeps, "publications">,
  tenantId: string,
  token: ChangeToken,
  clock: ClockReading,
  { type, limit }: ChangeRequest,
  signal: AbortSignal,
): Promise<{ changes: PublicationState[]; hasMore: boolean; after: PagePosition }> {
  const types = type === "" ? publishableTypes : [type];
  const newest = endOf(lastTouched(clock, types));
  const examined = endOf(clock.tick);
  if (!isBefore(token.after, newest)) return { changes: [], hasMore: false, after: later(token.after, examined) };
  const at = { moment: clock.moment, signal };
  const { changes, hasMore } = await deps.publications.listChanges(tenantId, { types, ...token, limit }, bytesMax, at);
  const position = changes.at(-1) ?? token.after;
  return { changes, hasMore, after: hasMore ? position : later(position, examined) };
}

function toAnswer(changes: readonly PublicationState[], since: string, hasMore: boolean): ChangeAnswer {
  return { itemsJson: joinItems(changes.map(toItem)), since, hasMore };
}

function toItem({ documentId: id, type, version, sequence, updatedAt, bytes }: PublicationState): Uint8Array[] {
  const change = bytes ? "upsert" : "withdraw";
  const head = JSON.stringify({ change, id, type, version, sequence, updated_at: updatedAt.toISOString() });
  if (!bytes) return [Buffer.from(head)];
  return [Buffer.from(`${head.slice(0, -1)},"document":`), bytes, Buffer.from("}")];
}
