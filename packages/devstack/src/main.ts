import { stopSignal } from "@vidimus/kit/service/process";
import { fail, readOptions } from "./command-line.ts";
import { makeConsoleLink } from "./stack/console-link.ts";
import { welcome } from "./stack/welcome.ts";
import { openDevStack } from "./stack/dev-stack.ts";

const stop = new AbortController();
const stopped = stopWhenTold();

try {
  const { fresh, mtls, replicas, state } = readOptions(["fresh", "mtls", "replicas", "state"]);
  const options = {
    stateDir: state,
    env: process.env,
    fresh,
    mtls,
    replicas,
    console: true,
    report: console.log,
    signal: stop.signal,
  };
  await using stack = await openDevStack(options);
  console.log(welcome(stack.dev, await makeConsoleLink(stack.dev)));
  await stopped;
} catch (error) {
  if (!stop.signal.aborted) fail(error);
}
// An aborted start leaves timers behind, so the process is ended explicitly. The exit hook of
// child.ts also kills a child that is just starting.
process.exit();

async function stopWhenTold(): Promise<void> {
  await stopSignal();
  console.log("stopping");
  stop.abort();
}
