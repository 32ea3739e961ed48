import { openBrowser, type OpenBrowser, type Visitor } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { freePorts } from "@vidimus/devstack/testing/free-ports";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runNpmScript } from "../../support/npm-script.ts";
import { vidimus } from "../../support/vidimus.ts";

/** What `npm start` starts, and a browser in front of its console. */
export interface ConsoleStack extends AsyncDisposable {
  /** Working folder in which the command `vidimus` finds the stack. */
  readonly dir: string;
  readonly dev: DevJson;
  readonly browser: OpenBrowser;
  /** From variable to port, for every port of the services and the console. */
  readonly ports: Readonly<Record<string, string>>;
  /** Makes a link that signs somebody in once, as owner of the tenant `demo` by default. */
  newLink(name: string, as?: SignInAs): Promise<string>;
  /** Signs somebody in. @returns a visitor with the session's cookies, 1280 px wide */
  signIn(name: string, as?: SignInAs): Promise<Visitor>;
}

interface SignInAs {
  readonly roles?: string;
  readonly tenant?: string;
}

export async function openConsoleStack(): Promise<ConsoleStack> {
  await using opening = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "vidimus-pages-"));
  opening.defer(() => rm(dir, { recursive: true, force: true }));
  const browser = opening.use(await openBrowser());
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...inherited } = process.env;
  const state = join(dir, ".vidimus");
  const ports = await freePorts();
  const env = { ...inherited, ...ports, IP_RATE_LIMIT: "off" };
  const start = runNpmScript("start", ["--state", state], env);
  opening.defer(async () => {
    start.child.kill("SIGTERM");
    await start.ended;
  });
  await start.says("npm run demo");
  const dev = await readDevJson(state);
  if (!dev) throw new Error("npm start has left no dev.json");
  const newLink = async (name: string, { roles = "owner", tenant = "demo" }: SignInAs = {}) => {
    const args = ["console", "sign-in", "--as", name, "--tenant", tenant, "--role", "owner", "--roles", roles];
    return (await vidimus(args, { cwd: dir })).stdout.trim();
  };
  const opened = opening.move();
  return {
    dir,
    dev,
    browser,
    ports,
    newLink,
    signIn: async (name, as) => signInByLink(browser, await newLink(name, as), { width: 1280, scheme: "light" }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
