import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

// Preloaded with --import. At the end of the process this file prints a line for each file that was
// loaded as a module, to standard error.
const urls: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("file:")) urls.push(url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => void writeSync(2, urls.map((url) => `module ${url}\n`).join("")));
