import { stopSignal } from "@vidimus/kit/process";
import { parseArgs } from "node:util";
import { DevstackError } from "./errors.ts";
import { stateDir } from "./paths.ts";
import { welcome } from "./stack/welcome.ts";
import { openDevStack } from "./stack/dev-stack.ts";

const { values } = parseArgs({ options: { fresh: { type: "boolean", default: false } } });
const stopped = stopSignal();

try {
  await using stack = await openDevStack({ stateDir, env: process.env, fresh: values.fresh, say: console.log });
  console.log(welcome(stack.dev));
  await stopped;
  console.log("stopping");
} catch (error) {
  console.error(error instanceof DevstackError ? error.message : error);
  process.exitCode = 1;
}
