import { fail, readOptions } from "./command-line.ts";
import { stopStack } from "./stack/leftovers.ts";

try {
  const { state } = readOptions(["state"]);
  await stopStack(state, console.log);
} catch (error) {
  fail(error);
}
