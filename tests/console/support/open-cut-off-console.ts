import { readConfig } from "@vidimus/console/config";
import { startConsole } from "@vidimus/console/console";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";

/** A console that reaches no service but access, so that parts of its pages are missing. */
interface CutOffConsole extends AsyncDisposable {
  readonly origin: string;
}

const nowhere = "127.0.0.1:1";

/** Starts a cut-off console in this process, beside the console of a dev stack. */
export async function openCutOffConsole(dev: DevJson): Promise<CutOffConsole> {
  const port = await pickFreePort();
  const running = await startConsole(
    readConfig({
      MONGODB_URL: dev.mongodb,
      MONGODB_DATABASE: "vidimus_cut_off_console",
      OPS_PORT: "0",
      CONSOLE_PORT: String(port),
      ACCESS_TARGET: dev.grpc.access,
      DOCUMENTS_TARGET: nowhere,
      PHRASES_TARGET: nowhere,
      DELIVERY_TARGET: nowhere,
      CONSOLE_API_ORIGIN: dev.gateway,
      GATEWAY_URL: `http://${nowhere}`,
      LOG_LEVEL: "silent",
    }),
  );
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}
