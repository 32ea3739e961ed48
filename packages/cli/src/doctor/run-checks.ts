import type { Settings } from "../settings/settings.ts";
import { ownCredentials } from "../rpc/own-credentials.ts";
import { checkGateway } from "./check-gateway.ts";
import { checkMongodb } from "./check-mongodb.ts";
import { checkNats } from "./check-nats.ts";
import { checkOps } from "./check-ops.ts";
import { checkMeshDoors, checkTeamsDoor, teamsNames } from "./check-rpc.ts";
import { checkWebhooks } from "./check-webhooks.ts";
import type { Finding } from "./finding.ts";

/**
 * Checks each part of a deployment whose address is known. Changes nothing, except that one write
 * is charged to the budget of the key's tenant.
 *
 * @throws CliError when the gateway's address is unknown, or a setting is malformed
 */
export async function runChecks(settings: Settings): Promise<Finding[]> {
  const gateway = settings.get("gateway");
  const [key, root] = [settings.find("key"), settings.find("root")];
  const [mesh, ops] = [settings.find("mesh"), settings.find("ops")];
  const [mongodb, nats] = [settings.find("mongodb"), settings.find("nats")];
  const credentialsFor = (name: string) => ownCredentials(settings, name);
  const checks = [
    checkGateway(gateway, key, root),
    ...teamsNames.map(async (name) => [await checkTeamsDoor(name, settings.find(name), credentialsFor)]),
    checkWebhooks(settings, credentialsFor),
    checkMeshDoors(mesh, credentialsFor),
    checkOps(ops),
    checkMongodb(mongodb),
    checkNats(nats),
  ];
  return (await Promise.all(checks)).flat();
}
