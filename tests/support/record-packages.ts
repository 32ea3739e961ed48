/**
 * For `node --import`: appends to the file that RECORDED_PACKAGES names a line for each package of
 * OpenTelemetry that a process loads: the service, or "another program", and the package.
 */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

const file = process.env["RECORDED_PACKAGES"] ?? "";
const [, service = "another program"] = /services\/(\w+)\/src/.exec(process.argv[1] ?? "") ?? [];
const seen = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /node_modules\/(@opentelemetry\/[^/]+)\//.exec(url) ?? [];
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      appendFileSync(file, `${service} ${name}\n`);
    }
    return nextLoad(url, context);
  },
});
