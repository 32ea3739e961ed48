import type { TenantRoute } from "../../http/route.ts";
import type { Services } from "../../rpc/called-methods.ts";
import type { SentFormStore } from "../../store/sent-form-store.ts";
import { askToCancelReplay, cancelReplay } from "./cancel-replay.ts";
import { countReplay } from "./count-replay.ts";
import { listReplays } from "./list-replays.ts";
import { newReplay } from "./new-replay.ts";
import { showReplay } from "./show-replay.ts";
import { startReplay } from "./start-replay.ts";

interface ReplayRoutesDeps extends Pick<Services, "deliveries" | "endpoints"> {
  readonly sentForms: SentFormStore;
}

export function replayRoutes(deps: ReplayRoutesDeps): TenantRoute[] {
  return [
    listReplays(deps),
    newReplay(deps),
    countReplay(deps),
    startReplay(deps),
    showReplay(deps),
    askToCancelReplay(deps),
    cancelReplay(deps),
  ];
}
