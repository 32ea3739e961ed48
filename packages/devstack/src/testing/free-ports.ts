import { pickFreePort } from "../port-guard.ts";
import { consolePortSettings } from "../stack/console-plan.ts";
import { portSettings } from "../stack/service-plan.ts";

/** Variables that put every door of a dev stack on a free port. */
export async function freePorts(): Promise<Record<string, string>> {
  const variables = [...portSettings, ...consolePortSettings].map(({ variable }) => variable);
  return Object.fromEntries(await Promise.all(variables.map(async (name) => [name, String(await pickFreePort())])));
}
