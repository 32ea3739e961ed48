import { openMongo } from "@vidimus/kit/mongo/mongo";
import { ensureDatabaseVersion } from "@vidimus/kit/mongo/database-version";
import { listen } from "@vidimus/kit/listen";
import { type RunningProcess, startService } from "@vidimus/kit/service/service";
import { type ConsoleConfig, isLoopbackOrigin } from "./config.ts";
import { createApp } from "./http/create-app.ts";
import { errorPage } from "./pages/error-page.ts";
import { routes } from "./pages/routes.ts";
import { sendAgainPage } from "./pages/send-again.ts";
import { openServices } from "./rpc/open-services.ts";
import { findPerson } from "./sessions/find-person.ts";
import { OidcProvider } from "./sign-in/oidc-provider.ts";
import { consoleDatabaseVersion } from "./store/console-database-version.ts";
import { SentFormStore } from "./store/sent-form-store.ts";
import { SessionStore } from "./store/session-store.ts";

type RunningConsole = RunningProcess;

export function startConsole(config: ConsoleConfig): Promise<RunningConsole> {
  return startService("console", config, async (stack, { log, metrics, credentialsFor }) => {
    const { mongoUrl: url, database, origin, oidc } = config;
    const mongo = stack.use(await openMongo({ url, database, appName: "console" }));
    await ensureDatabaseVersion(mongo, consoleDatabaseVersion, config.migrate);
    const sessions = new SessionStore(mongo.db);
    const sentForms = new SentFormStore(mongo.db);
    const services = openServices(stack, config, credentialsFor);
    const isLoopback = isLoopbackOrigin(origin);
    const provider = oidc && new OidcProvider(oidc, origin);
    const app = await createApp({
      origin,
      isLoopback,
      trustedProxies: config.trustedProxies,
      routes: routes({ ...services, ...config, sessions, sentForms, log, provider, groups: config.oidc?.groups }),
      log,
      registry: metrics.registry,
      now: () => new Date(),
      errorPage,
      sendAgainPage,
      findPerson: (call) => findPerson({ ...services, sessions }, call),
    });
    stack.defer(() => app.close());
    const { pagesHost: host, pagesPort: port } = config;
    await listen({ host, port, hostSetting: "CONSOLE_HOST", portSetting: "CONSOLE_PORT" }, () =>
      app.listen({ host, port }),
    );
    return { check: mongo.ping };
  });
}
