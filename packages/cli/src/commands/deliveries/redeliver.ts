import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { attemptText, toShownAttempt } from "../../shown/shown-delivery.ts";

/** Longer than an attempt, which may take 15 s. */
const timeoutMs = 20_000;

export function redeliverDelivery(world: World): Command {
  return new Command("redeliver")
    .description("send a webhook once more, now, and say what came of it; a pending one is due at once")
    .argument("<id>", "id of the delivery")
    .action(async (deliveryId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using delivery = await openService(session, "delivery", DeliveryLogService);
      const answer = await delivery.call((client, options) =>
        client.redeliver({ tenantId, deliveryId }, { ...options, timeoutMs }),
      );
      if (!answer.attempt) {
        const text = `delivery ${deliveryId} is pending, and is attempted now: \`deliveries show\` says what comes of it`;
        return session.print({ id: deliveryId, state: answer.delivery?.state, attempt: null }, text);
      }
      const attempt = toShownAttempt(answer.attempt);
      session.print({ id: deliveryId, state: answer.delivery?.state, attempt }, attemptText(attempt));
      const { status } = attempt;
      if (status === null || status < 200 || status > 299) {
        throw new CliError(`the endpoint did not accept delivery ${deliveryId}`);
      }
    });
}
