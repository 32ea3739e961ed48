import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { openSchema } from "@vidimus/kit/mongo/schema";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { listen } from "@vidimus/kit/service/listen";
import { type RunningProcess, startService } from "@vidimus/kit/service/service";
import { type ConsoleConfig, isLoopbackOrigin } from "./config.ts";
import { createApp } from "./http/create-app.ts";
import { routes } from "./pages/routes.ts";
import { findPerson } from "./sessions/find-person.ts";
import { OidcProvider } from "./sign-in/oidc-provider.ts";
import { consoleSchema } from "./store/console-schema.ts";
import { SessionStore } from "./store/session-store.ts";

/** A running console. */
export type RunningConsole = RunningProcess;

/** Starts the console: the pages of people, at the origin of the settings. */
export function startConsole(config: ConsoleConfig): Promise<RunningConsole> {
  return startService("console", config, async (stack, { log, metrics, credentialsFor }) => {
    const { mongoUrl: url, database, origin, links, oidc } = config;
    const mongo = stack.use(await openMongo({ url, database, appName: "console" }));
    await openSchema(mongo, consoleSchema, config.migrate);
    const sessions = new SessionStore(mongo.db);
    const toAccess = { target: config.accessTarget, credentials: credentialsFor("gateway") };
    const members = stack.use(openRpcClient(MemberService, toAccess));
    const isLoopback = isLoopbackOrigin(origin);
    const provider = oidc && new OidcProvider(oidc, origin);
    const app = await createApp({
      origin,
      isLoopback,
      trustedProxies: config.trustedProxies,
      routes: routes({ sessions, members, log, origin, links, provider, groups: oidc?.groups }),
      log,
      registry: metrics.registry,
      now: () => new Date(),
      findPerson: (call) => findPerson({ sessions, members }, call),
    });
    stack.defer(() => app.close());
    const { pagesHost: host, pagesPort: port } = config;
    await listen({ host, port, hostSetting: "CONSOLE_HOST", portSetting: "CONSOLE_PORT" }, () =>
      app.listen({ host, port }),
    );
    return { check: mongo.ping };
  });
}
