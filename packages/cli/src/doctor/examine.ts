import type { Settings } from "../settings/settings.ts";
import { checkGateway } from "./check-gateway.ts";
import { checkMongodb } from "./check-mongodb.ts";
import { checkNats } from "./check-nats.ts";
import { checkOps } from "./check-ops.ts";
import { checkRpc, type RpcName } from "./check-rpc.ts";
import type { Finding } from "./finding.ts";

const rpcNames = ["access", "documents", "phrases", "signing", "delivery"] as const satisfies RpcName[];

/**
 * Examines a deployment, whatever of it is known. It changes nothing, but costs one write of the key's tenant.
 *
 * @throws CliError when not even the gateway is known, or a setting has the wrong form
 */
export async function examine(settings: Settings): Promise<Finding[]> {
  const gateway = settings.get("gateway");
  const checks = [
    checkGateway(gateway, settings.find("key")),
    ...rpcNames.map(async (name) => [await checkRpc(name, settings.find(name))]),
    checkOps(settings.find("ops")),
    checkMongodb(settings.find("mongodb")),
    checkNats(settings.find("nats")),
  ];
  return (await Promise.all(checks)).flat();
}
