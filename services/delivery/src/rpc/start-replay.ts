import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  DeliveryLogService,
  StartReplayRequest,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { AuditAuthor } from "@vidimus/kit/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { uuidv7 } from "@vidimus/kit/ids";
import { type Replay, replayStates, requireStates } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import type { AuditedReplays } from "../store/audited-replays.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { ReplayStore } from "../store/replay-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { replayToProto } from "./delivery-message.ts";
import type { MayChange } from "./may-change.ts";
import { refused } from "./refused.ts";

export interface StartReplayDeps {
  endpoints: Pick<EndpointStore, "find">;
  replays: Pick<ReplayStore, "findRunning">;
  auditedReplays: Pick<AuditedReplays, "start">;
}

/** Tries while the replay that stands in the way ends between two looks. */
const triesMax = 3;

/** Implements `StartReplay`. A process of delivery takes it within a second. */
export function startReplay(
  deps: StartReplayDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.startReplay> {
  return async (request, context) => {
    const by = mayChange(context);
    const endpoint = await requireEndpoint(deps.endpoints, request);
    const replay = toReplay(request, endpoint, new Date());
    await storeUnlessRunning(deps, replay, by);
    return { replay: replayToProto(replay) };
  };
}

function toReplay(
  request: StartReplayRequest,
  { tenantId, endpointId, documentTypes }: Pick<Endpoint, "tenantId" | "endpointId" | "documentTypes">,
  now: Date,
): Replay {
  const states = requireStates(request.states, replayStates);
  return {
    replayId: uuidv7(),
    tenantId,
    endpointId,
    ...requireRange(request, now),
    states: states.length > 0 ? states : replayStates,
    latestOnly: request.latestOnly,
    ...(documentTypes ? { documentTypes } : {}),
    state: "running",
    pageToken: "",
    counts: { seen: 0, delivered: 0, failed: 0, skipped: 0 },
    failedTurns: 0,
    createdAt: now,
  };
}

/** A request that says nothing may be a mistake, and would send everything there ever was. */
function requireRange({ since, until, states, all }: StartReplayRequest, now: Date): Pick<Replay, "since" | "until"> {
  const isLimited = since !== undefined || states.length > 0;
  if (!all && !isLimited) throw refused("/all", "must be true to send everything; else give since or states");
  if (all && isLimited) throw refused("/all", "must not be true beside since or states");
  const range = { ...(since ? { since: timestampDate(since) } : {}), until: until ? timestampDate(until) : now };
  if (!range.since || range.since <= range.until) return range;
  throw refused("/since", `must not be after until${until ? "" : ", which is now unless it is given"}`);
}

/** @throws DomainError `failed_precondition` that names the replay which runs */
async function storeUnlessRunning(deps: StartReplayDeps, replay: Replay, by: AuditAuthor): Promise<void> {
  const { tenantId, endpointId } = replay;
  for (let tries = 0; tries < triesMax; tries += 1) {
    if (await deps.auditedReplays.start(replay, by)) return;
    const running = await deps.replays.findRunning(tenantId, endpointId);
    if (running) throw replayRunning(running);
  }
  throw new DomainError("conflict", "others start replays of this endpoint at the same time; try again");
}

function replayRunning({ replayId }: Replay): DomainError {
  const message = `replay ${replayId} of this endpoint runs; wait for its end or cancel it`;
  return new DomainError("failed_precondition", message, {
    reason: "replay_running",
    metadata: { replay_id: replayId },
  });
}
