import { Code, ConnectError } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { patienceMs } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked } from "./finding.ts";

/** The internal services by the setting that says where they listen. */
export const rpcServices = {
  access: AccessService,
  documents: DocumentService,
  phrases: PhraseService,
  signing: TrustListService,
  delivery: EndpointService,
} as const;

/** The name of an internal service. */
export type RpcName = keyof typeof rpcServices;

/** Asks `grpc.health.v1` for the service that should be there. */
export async function checkRpc(name: RpcName, target: string | undefined): Promise<Finding> {
  const check = `${name} rpc`;
  const variable = `VIDIMUS_${name.toUpperCase()}`;
  if (!target) return unchecked(check, `Pass --${name} or ${variable}.`);
  const { openRpcClient } = await import("@vidimus/kit/rpc/client");
  using client = openRpcClient(Health, { target });
  const { typeName } = rpcServices[name];
  try {
    const { status } = await client.check({ service: typeName }, { timeoutMs: patienceMs });
    if (status === Status.SERVING) return ok(check, `${target} serves ${typeName}`);
    return broken(check, `${target} is not serving`, `It is stopping, or not ready: /readyz of ${name} says why.`);
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code === Code.NotFound) {
      const remedy = `Something else listens there: compare ${variable} and GRPC_PORT of the services.`;
      return broken(check, `${target} does not know ${typeName}`, remedy);
    }
    const remedy =
      "Is the service running, and may this machine reach its GRPC_PORT? Without certificates it binds loopback.";
    return broken(check, `${target} cannot be reached: ${rawMessage}`, remedy);
  }
}
