import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  CountReplayRequest,
  StartReplayRequest,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { uuidv7 } from "@vidimus/kit/ids";
import { type Replay, replayStates, requireStates } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { refused } from "./refused.ts";

type ReplayRequest = Omit<StartReplayRequest | CountReplayRequest, "$typeName">;

/**
 * A request without states asks for all, also for `missing`. @throws DomainError `invalid` for an
 * unknown state, a range that ends before it begins, or limits that are missing or contradict `all`
 */
export function replayFromProto(
  request: ReplayRequest,
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

/**
 * A request without limits may be a mistake, and would send everything again, so it must say `all`.
 */
function requireRange({ since, until, states, all }: ReplayRequest, now: Date): Pick<Replay, "since" | "until"> {
  const isLimited = since !== undefined || states.length > 0;
  if (!all && !isLimited) throw refused("/all", "must be true to send everything; else give since or states");
  if (all && isLimited) throw refused("/all", "must not be true beside since or states");
  const range = { ...(since ? { since: timestampDate(since) } : {}), until: until ? timestampDate(until) : now };
  if (!range.since || range.since <= range.until) return range;
  throw refused("/since", `must not be after until${until ? "" : ", which is now unless it is given"}`);
}
