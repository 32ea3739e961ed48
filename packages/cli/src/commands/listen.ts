import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Command } from "commander";
import { trustListAt } from "../../../verify/src/verify.ts";
import { type ArrivedWebhook, openLocalReceiver } from "../listen/local-receiver.ts";
import { arrivalText, statusFor, verifyWebhook } from "../listen/verify-webhook.ts";
import { wholeNumber } from "../options/whole-number.ts";
import { openService } from "../rpc/open-service.ts";
import { openSession, type Session } from "../session.ts";
import type { World } from "../world.ts";
import { addEndpointOptions, type EndpointOptions, toSettings } from "./endpoints/endpoint-options.ts";

interface ListenOptions extends EndpointOptions {
  port: number;
  count?: number;
}

export function listen(world: World): Command {
  const command = new Command("listen")
    .option("--port <port>", "port on 127.0.0.1; 0 for a free one", wholeNumber(0, 65_535), 0)
    .option("--url <url>", "where the platform reaches this machine, for example a tunnel's address")
    .option("--root <key>", "public key of the trust list's offline root; better in VIDIMUS_TRUST_ROOT")
    .option("--count <count>", "end after so many webhooks", wholeNumber(1));
  return addEndpointOptions(command)
    .addHelpText("after", help)
    .action(async (options: ListenOptions, self: Command) => {
      const session = await openSession(world, self);
      let left = options.count ?? Infinity;
      const enough = Promise.withResolvers<void>();
      // Webhooks may arrive before the answer with the endpoint's secret, so `receive` awaits the
      // secret.
      const secret = Promise.withResolvers<string>();
      const root = session.settings.find("root");
      const keys = trustListAt(`${session.settings.get("gateway")}/api/keys`, { root });
      const receive = async (webhook: ArrivedWebhook) => {
        const arrival = await verifyWebhook(webhook, { secret: await secret.promise, keys });
        session.print(arrival, arrivalText(arrival));
        left -= 1;
        if (left <= 0) enough.resolve();
        return statusFor(arrival);
      };
      await using receiver = await openLocalReceiver(options.port, receive);
      const { url = `http://127.0.0.1:${receiver.port}/`, ...settings } = options;
      await using endpoint = await register(session, world, url, settings);
      secret.resolve(endpoint.secret);
      world.stderr.write(`endpoint ${endpoint.id} listens at ${url}; end with Ctrl-C, which removes it\n`);
      await Promise.race([world.interrupted?.() ?? enough.promise, enough.promise]);
    });
}

async function register(session: Session, world: World, url: string, options: EndpointOptions) {
  const settings = await toSettings(world, options);
  const tenantId = session.settings.get("tenant");
  const delivery = await openService(session, "delivery", EndpointService);
  const { endpoint, secret } = await delivery.call((client, call) =>
    client.createEndpoint({ tenantId, ...settings, url }, call),
  );
  const endpointId = endpoint?.endpointId ?? "";
  return {
    id: endpointId,
    // The service answers the secret that it made, and "" when one was given.
    secret: secret === "" ? (settings.secret ?? "") : secret,
    async [Symbol.asyncDispose]() {
      await delivery.call((client, call) => client.deleteEndpoint({ tenantId, endpointId }, call));
      delivery[Symbol.dispose]();
    },
  };
}

const help = `
Registers an endpoint for as long as it runs. Answers 204 to what it can verify, 400 to what is not genuine, and 503
while the trust list cannot be fetched or is refused. --json prints one object a line. The deployment has to reach --url, and a local
address must be one that it allows; a dev stack allows loopback. If this command is killed, remove its endpoint with
\`endpoints delete\`.`;
