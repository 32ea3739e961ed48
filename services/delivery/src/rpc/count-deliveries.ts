import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { LRUCache } from "lru-cache";
import { type DeliveryState, deliveryStates, shownState, type StoredState } from "../domain/delivery-log.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { DeliveryCountStore, HourCount } from "../store/delivery-count-store.ts";
import { hourMs } from "../domain/delivery-log.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { refused } from "./refused.ts";

export interface CountDeliveriesDeps {
  endpoints: Pick<EndpointStore, "find" | "list">;
  deliveryCounts: Pick<DeliveryCountStore, "count">;
}

interface Question {
  readonly tenantId: string;
  /** "" for all endpoints. */
  readonly endpointId: string;
  readonly hours: number;
}

/**
 * `byState` leads from state and first instant of an hour, in milliseconds since 1970, to the
 * count.
 */
interface Counted {
  readonly at: Date;
  readonly firstHour: number;
  readonly byState: ReadonlyMap<DeliveryState, ReadonlyMap<number, HourCount>>;
}

const [hoursDefault, hoursMax] = [24, 48];
/** Cached answers have a few kilobytes each. */
const [keptMax, keptMs] = [500, 60_000];
const none: HourCount = { count: 0, hasMore: false };

/** Requests for the same counts share one answer for a minute. */
export function countDeliveries(
  deps: CountDeliveriesDeps,
): MethodImpl<typeof DeliveryLogService.method.countDeliveries> {
  const kept = new LRUCache<string, Counted, Question>({
    max: keptMax,
    ttl: keptMs,
    fetchMethod: (_key, _stale, { context }) => countAnew(deps, context),
  });
  return async (request) => {
    const question = requireQuestion(request);
    const key = JSON.stringify([question.tenantId, question.endpointId, question.hours]);
    const counted = await kept.forceFetch(key, { context: question });
    return toProto(counted, question.hours);
  };
}

function requireQuestion(request: Omit<Question, "hours"> & { hours: number }): Question {
  const tenantId = requireTenantId(request.tenantId);
  if (request.hours > hoursMax) throw refused("/hours", `must be an integer from 1 to ${hoursMax}`);
  return { tenantId, endpointId: request.endpointId, hours: request.hours || hoursDefault };
}

async function countAnew(
  { endpoints, deliveryCounts }: CountDeliveriesDeps,
  { tenantId, endpointId, hours }: Question,
): Promise<Counted> {
  const at = new Date();
  const counted =
    endpointId === "" ? await endpoints.list(tenantId) : [await requireEndpoint(endpoints, { tenantId, endpointId })];
  const firstHour = Math.floor(at.getTime() / hourMs) * hourMs - (hours - 1) * hourMs;
  const range = { since: new Date(firstHour), until: new Date(firstHour + hours * hourMs) };
  const byState = await Promise.all(
    deliveryStates.map(async (shown) => {
      const endpointIds = idsOf(counted, shown);
      const state = storedStateOf(shown);
      return [shown, await deliveryCounts.count({ tenantId, endpointIds, state, ...range })] as const;
    }),
  );
  return { at, firstHour, byState: new Map(byState) };
}

function storedStateOf(shown: DeliveryState): StoredState {
  return shown === "held" ? "pending" : shown;
}

/**
 * Ids of the endpoints whose deliveries can be shown in a state: `held` is only for those of
 * disabled endpoints, `pending` only for those of other ones.
 */
function idsOf(endpoints: readonly ManagedEndpoint[], shown: DeliveryState): string[] {
  const stored = storedStateOf(shown);
  return endpoints.flatMap((each) => (shownState(stored, each) === shown ? each.endpointId : []));
}

function toProto({ at, firstHour, byState }: Counted, hours: number) {
  return {
    countedAt: timestampFromDate(at),
    hours: Array.from({ length: hours }, (_, nth) => {
      const hour = firstHour + nth * hourMs;
      const counts = Array.from(byState, ([state, counts]) => ({ state, ...(counts.get(hour) ?? none) }));
      return { start: timestampFromDate(new Date(hour)), counts };
    }),
  };
}
