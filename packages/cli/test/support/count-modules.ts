import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

// Preloaded with --import: names each file that is loaded as a module, a line each, at the end.
const urls: string[] = [];
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("file:")) urls.push(url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => void writeSync(2, urls.map((url) => `module ${url}\n`).join("")));
