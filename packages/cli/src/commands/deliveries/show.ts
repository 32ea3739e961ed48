import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import {
  attemptText,
  requestLines,
  subjectOf,
  toShown,
  toShownAttempt,
  toShownRequest,
} from "../../shown/shown-delivery.ts";

export function showDelivery(world: World): Command {
  return new Command("show")
    .description("read one delivery with its attempts")
    .argument("<id>", "id of the delivery")
    .option("--request", "compute its request again, with headers and body")
    .action(
      async (deliveryId: string, { request: includeRequest = false }: { request?: boolean }, command: Command) => {
        const session = await openSession(world, command);
        const tenantId = session.settings.get("tenant");
        using delivery = await openService(session, "delivery", DeliveryLogService);
        const found = await delivery.read((client, options) =>
          client.getDelivery({ tenantId, deliveryId, includeRequest }, options),
        );
        if (!found.delivery) throw new CliError("delivery answered without the delivery");
        const shown = toShown(found.delivery);
        const attempts = found.attempts.map(toShownAttempt);
        const request = found.request ? toShownRequest(found.request) : null;
        const gone = "its request cannot be computed again: the endpoint or the snapshot is gone";
        const lines = [
          `delivery   ${shown.id}`,
          `state      ${shown.state}${shown.nextAttemptAt ? `, next attempt ${shown.nextAttemptAt}` : ""}`,
          `webhook    ${shown.webhookId}`,
          `about      ${subjectOf(shown)}`,
          `endpoint   ${shown.endpointId}`,
          `stored     ${shown.createdAt}`,
          `attempts   ${shown.attemptCount}`,
          ...attempts.map((attempt) => `  ${attemptText(attempt)}`),
          ...(includeRequest ? ["", ...(request ? requestLines(request) : [gone])] : []),
        ];
        session.print({ delivery: shown, attempts, ...(includeRequest ? { request } : {}) }, lines.join("\n"));
      },
    );
}
