import { pickFreePort } from "../port-guard.ts";
import { consolePortSettings } from "../stack/console-plan.ts";
import { portSettings } from "../stack/service-plan.ts";

/** From variable to free port, for every port of a dev stack's services and its console. */
export async function freePorts(): Promise<Record<string, string>> {
  const variables = [...portSettings, ...consolePortSettings].map(({ variable }) => variable);
  return Object.fromEntries(await Promise.all(variables.map(async (name) => [name, String(await pickFreePort())])));
}
