import { Code, ConnectError } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import type { RpcCredentials } from "@vidimus/kit/rpc/client/client";
import { addressesIn } from "./addresses-in.ts";
import { answerMsMax } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked } from "./finding.ts";

/** Names of the teams doors; the setting with a door's address has the same name. */
export const teamsNames = ["access", "documents", "phrases", "delivery"] as const;

type TeamsName = (typeof teamsNames)[number];

/** From the name of a teams door to the type name of a service that it must serve. */
const teamsDoors: Readonly<Record<TeamsName, string>> = {
  access: AccessService.typeName,
  documents: DocumentService.typeName,
  phrases: PhraseService.typeName,
  delivery: EndpointService.typeName,
};

/** From the name of a mesh door to the type name of a service that it must serve. */
const meshDoors = {
  access: TenantService.typeName,
  documents: PublishedDocumentService.typeName,
  phrases: PhraseService.typeName,
  signing: TrustListService.typeName,
  delivery: EndpointService.typeName,
};

/** Asks `grpc.health.v1` at a teams door for the service that it must serve. */
export async function checkTeamsDoor(
  name: TeamsName,
  target: string | undefined,
  credentialsFor: CredentialsFor,
): Promise<Finding> {
  const check = `${name} rpc`;
  const variable = `VIDIMUS_${name.toUpperCase()}`;
  if (!target) return unchecked(check, `Pass --${name} or ${variable}.`);
  return checkHealth({
    check,
    name,
    target,
    typeName: teamsDoors[name],
    variable,
    portSetting: "GRPC_PORT",
    credentialsFor,
  });
}

/**
 * Asks each mesh door for the service that it must serve. `list` has their addresses
 * (`access=host:7150,…`); a door that it does not name is reported as unchecked.
 */
export async function checkMeshDoors(list: string | undefined, credentialsFor: CredentialsFor): Promise<Finding[]> {
  const targets = addressesIn(list);
  const door = { variable: "VIDIMUS_MESH", portSetting: "MESH_PORT", credentialsFor };
  const checks = Object.entries(meshDoors).map(async ([name, typeName]) => {
    const check = `${name} mesh`;
    const target = targets.get(name);
    if (!target) return unchecked(check, `Name its mesh door: --mesh ${name}=host:port,… or VIDIMUS_MESH.`);
    return checkHealth({ ...door, check, name, target, typeName });
  });
  return Promise.all(checks);
}

interface ExpectedDoor {
  readonly check: string;
  readonly name: string;
  readonly target: string;
  readonly typeName: string;
  /** Environment variable from which this program takes the address. */
  readonly variable: string;
  /** Environment variable from which the service takes the port. */
  readonly portSetting: string;
  readonly credentialsFor: CredentialsFor;
}

/** Makes the credentials for a service; undefined when this program has no certificate. */
type CredentialsFor = (name: string) => Promise<RpcCredentials | undefined>;

async function checkHealth(door: ExpectedDoor): Promise<Finding> {
  const { check, name, target, typeName, variable, portSetting } = door;
  const credentials = await door.credentialsFor(name);
  const { openRpcClient } = await import("@vidimus/kit/rpc/client/client");
  using client = openRpcClient(Health, { target, credentials });
  try {
    const { status } = await client.check({ service: typeName }, { timeoutMs: answerMsMax });
    if (status === Status.SERVING) return ok(check, `${target} serves ${typeName}`);
    return broken(check, `${target} is not serving`, `It is stopping, or not ready: /readyz of ${name} says why.`);
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code === Code.NotFound) {
      const remedy = `Something else listens there: compare ${variable} and ${portSetting} of the services.`;
      return broken(check, `${target} does not know ${typeName}`, remedy);
    }
    const remedy = `Is the service running, and may this machine reach its ${portSetting}? Without certificates it binds loopback; with them it needs --cert, --keyfile and --ca.`;
    return broken(check, `${target} cannot be reached: ${rawMessage}`, remedy);
  }
}
