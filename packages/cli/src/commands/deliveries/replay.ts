import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { timestamp, type TimestampInit } from "../../options/timestamp.ts";
import { readNameList } from "../../options/name-list.ts";
import { openService, type ServiceCaller } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { toShownReplay } from "../../shown/shown-delivery.ts";

interface ReplayOptions {
  since?: TimestampInit;
  until?: TimestampInit;
  states?: string[];
  all?: boolean;
  latestOnly?: boolean;
  wait: boolean;
  count?: boolean;
  status?: boolean;
  cancel?: boolean;
}

const pollMs = 1_000;

export function replayDeliveries(world: World): Command {
  return new Command("replay")
    .description("send a receiver snapshots again, in order per document; goes on when this command is ended")
    .argument("<id>", "id of the endpoint; with --status or --cancel, of the replay")
    .option("--since <time>", "only snapshots committed at or after it", timestamp)
    .option("--until <time>", "only snapshots committed before it; by default now", timestamp)
    .option("--states <names>", "by commas: delivered, superseded, exhausted, missing", readNameList)
    .option("--all", "every snapshot, whatever became of it")
    .option("--latest-only", "only the newest snapshot of each document; with --all it fills a new receiver")
    .option("--count", "send nothing, and print how many snapshots would be sent")
    .option("--no-wait", "do not wait for the end")
    .option("--status", "print how far a replay is")
    .option("--cancel", "end a replay")
    .action(async (id: string, options: ReplayOptions, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      if (options.count) {
        const request = requestOf({ tenantId, id }, options);
        const counted = await delivery.read((client, call) => client.countReplay(request, call));
        const { toSend, seen, hasMore } = counted;
        const shown = { toSend: Number(toSend), seen: Number(seen), hasMore };
        session.print(shown, countText(shown));
        return;
      }
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
  const request = requestOf({ tenantId, id }, options);
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

function requestOf({ tenantId, id }: { tenantId: string; id: string }, options: ReplayOptions) {
  const { since, until, states, all = false, latestOnly = false } = options;
  if (!all && !states && !since) throw new CliError("say what to send: --since, --states or --all");
  return {
    tenantId,
    endpointId: id,
    ...(since ? { since } : {}),
    ...(until ? { until } : {}),
    states: states ?? [],
    latestOnly,
    all,
  };
}

function countText({ toSend, seen, hasMore }: { toSend: number; seen: number; hasMore: boolean }): string {
  if (!hasMore) return `${toSend} of ${seen} snapshots would be sent`;
  return `${toSend} of the first ${seen} snapshots would be sent; there are more, which were not looked at`;
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
