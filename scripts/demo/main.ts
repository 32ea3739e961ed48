/**
 * `npm run demo`: pushes, publishes, receives and verifies a wire feed, and prints each step. Exits
 * with 1 if one fails.
 */
import { stateDir } from "@vidimus/devstack/paths";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { openDevStack } from "@vidimus/devstack/stack/dev-stack";
import { demonstrate } from "./demonstrate.ts";

async function findOrOpenStack(stack: AsyncDisposableStack): Promise<DevJson> {
  const running = await readDevJson(stateDir);
  if (running && (await answers(running.gateway))) {
    console.log(`Using the stack at ${running.gateway}.`);
    return running;
  }
  console.log("No stack runs here; starting one for the demonstration.");
  const opened = stack.use(await openDevStack({ stateDir, env: process.env, report: console.log }));
  return opened.dev;
}

function answers(gateway: string): Promise<boolean> {
  return fetch(`${gateway}/api/keys`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

try {
  await using stack = new AsyncDisposableStack();
  await demonstrate(await findOrOpenStack(stack));
} catch (error) {
  console.error(`\nThe demonstration failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
