import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { readDate } from "../../options/date.ts";
import { readNameList } from "../../options/name-list.ts";
import { openService, type ServiceCaller } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { toShownReplay } from "./shown-delivery.ts";

interface ReplayOptions {
  since?: Date;
  until?: Date;
  states?: string[];
  all?: boolean;
  latestOnly?: boolean;
  wait: boolean;
  status?: boolean;
  cancel?: boolean;
}

const pollMs = 1_000;

/** `deliveries replay ENDPOINT --tenant T …`, or `deliveries replay REPLAY --status|--cancel` */
export function replayDeliveries(world: World): Command {
  return new Command("replay")
    .description("send a receiver snapshots again, in order per document; goes on when this command is ended")
    .argument("<id>", "id of the endpoint; with --status or --cancel, of the replay")
    .option("--since <time>", "only snapshots committed at or after it", readDate)
    .option("--until <time>", "only snapshots committed before it; by default now", readDate)
    .option("--states <names>", "by commas: delivered, superseded, exhausted, missing", readNameList)
    .option("--all", "every snapshot, whatever became of it")
    .option("--latest-only", "only the newest snapshot of each document; with --all it fills a new receiver")
    .option("--no-wait", "do not wait for the end")
    .option("--status", "print how far a replay is")
    .option("--cancel", "end a replay")
    .action(async (id: string, options: ReplayOptions, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      const shown = await act(world, delivery, { tenantId, id }, options);
      session.print(shown, replayText(shown));
    });
}

async function act(
  world: World,
  delivery: ServiceCaller<typeof DeliveryLogService>,
  { tenantId, id }: { tenantId: string; id: string },
  options: ReplayOptions,
) {
  const read = async (replayId: string) =>
    toShownReplay((await delivery.read((client, call) => client.getReplay({ tenantId, replayId }, call))).replay);
  if (options.status) return read(id);
  if (options.cancel) {
    const { replay } = await delivery.call((client, call) => client.cancelReplay({ tenantId, replayId: id }, call));
    return toShownReplay(replay);
  }
  const { since, until, states, all = false, latestOnly = false } = options;
  if (!all && !states && !since) throw new CliError("say what to send: --since, --states or --all");
  const request = {
    tenantId,
    endpointId: id,
    ...(since ? { since: timestampFromDate(since) } : {}),
    ...(until ? { until: timestampFromDate(until) } : {}),
    states: states ?? [],
    latestOnly,
    all,
  };
  const { replay } = await delivery.call((client, call) => client.startReplay(request, call));
  let shown = toShownReplay(replay);
  if (!options.wait) return shown;
  world.stderr.write(`replay ${shown.id} runs, also when this command is ended\n`);
  while (shown.state === "running") {
    await world.sleep(pollMs);
    shown = await read(shown.id);
  }
  return shown;
}

function replayText({
  id,
  state,
  seen,
  delivered,
  failed,
  skipped,
  reached,
}: ReturnType<typeof toShownReplay>): string {
  const at = reached ? `, up to ${reached}` : "";
  return `replay ${id} is ${state}: ${seen} seen${at}, ${delivered} delivered, ${failed} failed, ${skipped} skipped`;
}
