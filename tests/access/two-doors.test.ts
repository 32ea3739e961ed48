/** Each service stands behind the door it is meant for: internal teams' or the other services'. */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { DescService } from "@bufbuild/protobuf";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { beforeAll, describe, expect, it } from "vitest";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

const teamsDoors = [
  { name: "access", services: [AccessService, MemberService] },
  { name: "documents", services: [DocumentService, SchemaService, WorkflowService] },
  { name: "phrases", services: [PhraseService] },
  { name: "signing", services: [KeyAdminService] },
  { name: "delivery", services: [EndpointService, DeliveryLogService] },
] as const;

const meshDoors = [
  { name: "access", services: [TenantService] },
  {
    name: "documents",
    services: [DocumentService, PublishedDocumentService, SnapshotFeedService, SignatureAuditService, SchemaService],
  },
  { name: "phrases", services: [PhraseService] },
  { name: "signing", services: [SigningService, TrustListService] },
  { name: "delivery", services: [EndpointService, DeliveryLogService] },
] as const;

const meshOnly = [
  SnapshotFeedService,
  SignatureAuditService,
  PublishedDocumentService,
  SigningService,
  TrustListService,
  TenantService,
] as const;
const teamsOnly = [AccessService, MemberService, KeyAdminService, WorkflowService] as const;

const named = (services: readonly DescService[]) => services.map((service) => [service.typeName, service] as const);

let stack: SharedConstellation;
beforeAll(async () => {
  stack = await sharedConstellation();
});

describe.each(teamsDoors)("the teams door of $name", ({ name, services }) => {
  it("lists by reflection exactly its services, health and reflection itself", async () => {
    const names = [...services, Health, ServerReflection].map(({ typeName }) => typeName);
    expect(await listServices(stack.dev.grpc[name])).toEqual(names.toSorted());
  });

  it.each(named(meshOnly))("does not know %s", async (_name, service) => {
    expect(await codesOf(stack.dev.grpc[name], service)).toEqual(new Set([Code.Unimplemented]));
  });
});

describe.each(meshDoors)("the mesh door of $name", ({ name, services }) => {
  it("reports itself and every service behind it as healthy", async () => {
    using health = openRpcClient(Health, { target: stack.dev.mesh[name] });
    for (const service of ["", ...services.map(({ typeName }) => typeName)])
      expect(await health.check({ service })).toMatchObject({ status: Status.SERVING });
  });

  it.each(named(teamsOnly))("does not know %s", async (_name, service) => {
    expect(await codesOf(stack.dev.mesh[name], service)).toEqual(new Set([Code.Unimplemented]));
  });

  it("has no reflection", async () => {
    const error = await listServices(stack.dev.mesh[name]).catch((failure: unknown) => failure);
    expect(ConnectError.from(error).code).toBe(Code.Unimplemented);
  });
});

it("of DocumentService the mesh door of documents knows BatchCreateDocuments only", async () => {
  using documents = openRpcClient(DocumentService, { target: stack.dev.mesh.documents });
  const { batchCreateDocuments, ...others } = documents;
  await expect(batchCreateDocuments({ items: [] })).rejects.toMatchObject({ code: Code.InvalidArgument });
  const { [Symbol.dispose]: _, ...methods } = others;
  expect(await codesOfCalls(Object.values(methods))).toEqual(new Set([Code.Unimplemented]));
});

async function listServices(target: string): Promise<string[]> {
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: `http://${target}` }));
  const ask = async function* () {
    yield { messageRequest: { case: "listServices", value: "*" } } as const;
  };
  const names: string[] = [];
  for await (const { messageResponse } of client.serverReflectionInfo(ask()))
    if (messageResponse.case === "listServicesResponse")
      names.push(...messageResponse.value.service.map(({ name }) => name));
  return names.toSorted();
}

/**
 * The codes with which the methods of a service fail when they are called with an empty request.
 */
async function codesOf(target: string, service: DescService): Promise<Set<Code | undefined>> {
  using client = openRpcClient(service, { target });
  const { [Symbol.dispose]: _, ...methods } = client;
  return await codesOfCalls(Object.values(methods));
}

async function codesOfCalls(methods: readonly unknown[]): Promise<Set<Code | undefined>> {
  const codes = methods.map((method) =>
    (method as (request: object) => Promise<unknown>)({}).then(
      () => undefined,
      (error: unknown) => ConnectError.from(error).code,
    ),
  );
  return new Set(await Promise.all(codes));
}
