import { stopSignal } from "@vidimus/kit/process";
import { parseArgs } from "node:util";
import { DevstackError } from "./errors.ts";
import { stateDir } from "./paths.ts";
import { welcome } from "./stack/welcome.ts";
import { openDevStack } from "./stack/dev-stack.ts";

const stopped = stopSignal();

try {
  await using stack = await openDevStack({ stateDir, env: process.env, fresh: readFresh(), say: console.log });
  console.log(welcome(stack.dev));
  await stopped;
  console.log("stopping");
} catch (error) {
  console.error(error instanceof DevstackError ? error.message : error);
  process.exitCode = 1;
}

function readFresh(): boolean {
  try {
    return parseArgs({ options: { fresh: { type: "boolean", default: false } } }).values.fresh;
  } catch (error) {
    throw new DevstackError(`${error instanceof Error ? error.message : String(error)}; the only option is --fresh`);
  }
}
