/** Who may call what, on every method of each door, with certificates. */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
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
import { makeIdentities } from "@vidimus/devstack/stack/dev-identities";
import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { callerAt, methodsOf, nameOf } from "../support/door-methods.ts";
import { as, openNewsroom } from "../support/newsroom.ts";

/** The RPC services of each mesh door. */
const meshDoors = {
  access: [TenantService],
  documents: [DocumentService, PublishedDocumentService, SnapshotFeedService, SignatureAuditService, SchemaService],
  phrases: [PhraseService],
  signing: [SigningService, TrustListService],
  delivery: [EndpointService, DeliveryLogService],
} as const satisfies Record<string, readonly DescService[]>;

/** Who may call each method of the mesh doors; nobody may call what is not served there. */
const meshTable: Readonly<Record<string, readonly string[]>> = {
  "vidimus.access.v1.TenantService/ListTenants": ["documents", "phrases", "delivery"],
  "vidimus.documents.v1.DocumentService/BatchCreateDocuments": ["gateway"],
  "vidimus.documents.v1.DocumentService/CreateDocument": [],
  "vidimus.documents.v1.DocumentService/ImportDocuments": [],
  "vidimus.documents.v1.DocumentService/ValidateDocument": [],
  "vidimus.documents.v1.DocumentService/UpdateDocument": [],
  "vidimus.documents.v1.DocumentService/TransitionDocument": [],
  "vidimus.documents.v1.DocumentService/BatchTransitionDocuments": [],
  "vidimus.documents.v1.DocumentService/GetDocument": [],
  "vidimus.documents.v1.DocumentService/ListDocuments": [],
  "vidimus.documents.v1.DocumentService/ListTransitions": [],
  "vidimus.documents.v1.DocumentService/ListDocumentVersions": [],
  "vidimus.documents.v1.DocumentService/GetDocumentVersion": [],
  "vidimus.documents.v1.DocumentService/ListDocumentHistory": [],
  "vidimus.documents.v1.PublishedDocumentService/ListPublishedDocuments": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/RevalidatePublishedPages": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/GetPublishedDocument": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/BatchGetPublishedDocuments": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/GetPublishedSite": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/ListPublishedChanges": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/ListPublishedVersions": ["gateway"],
  "vidimus.documents.v1.PublishedDocumentService/GetPublishedVersion": ["gateway"],
  "vidimus.documents.v1.SnapshotFeedService/ListPendingSnapshots": ["delivery"],
  "vidimus.documents.v1.SnapshotFeedService/GetSnapshots": ["delivery"],
  "vidimus.documents.v1.SnapshotFeedService/SettleSnapshots": ["delivery"],
  "vidimus.documents.v1.SnapshotFeedService/ListSnapshots": ["delivery"],
  "vidimus.documents.v1.SignatureAuditService/ListSignatures": ["signing", "delivery"],
  "vidimus.documents.v1.SignatureAuditService/GetSignatures": ["signing", "delivery"],
  "vidimus.documents.v1.SchemaService/CreateSchemaGeneration": [],
  "vidimus.documents.v1.SchemaService/GetSchemaGeneration": [],
  "vidimus.documents.v1.SchemaService/ListSchemaGenerations": ["delivery"],
  "vidimus.documents.v1.SchemaService/ListAuditEntries": [],
  "vidimus.phrases.v1.PhraseService/ListPhrases": ["gateway"],
  "vidimus.phrases.v1.PhraseService/GetPhrase": [],
  "vidimus.phrases.v1.PhraseService/UpsertPhrase": ["gateway"],
  "vidimus.phrases.v1.PhraseService/ImportPhrases": ["gateway"],
  "vidimus.phrases.v1.PhraseService/DeletePhrase": ["gateway"],
  "vidimus.phrases.v1.PhraseService/BatchDeletePhrases": [],
  "vidimus.phrases.v1.PhraseService/DeleteLanguage": [],
  "vidimus.phrases.v1.PhraseService/GetDictionaryRevision": ["gateway"],
  "vidimus.signing.v1.SigningService/SignSnapshots": ["delivery"],
  "vidimus.signing.v1.TrustListService/ListKeys": ["gateway", "delivery"],
  "vidimus.delivery.v1.EndpointService/CreateEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/ListEndpoints": ["gateway"],
  "vidimus.delivery.v1.EndpointService/GetEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/UpdateEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/EnableEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/DisableEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/RotateEndpointSecret": ["gateway"],
  "vidimus.delivery.v1.EndpointService/TestEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/DeleteEndpoint": ["gateway"],
  "vidimus.delivery.v1.EndpointService/ListAuditEntries": [],
  "vidimus.delivery.v1.DeliveryLogService/ListDeliveries": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/GetDelivery": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/Redeliver": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/StartReplay": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/CountReplay": [],
  "vidimus.delivery.v1.DeliveryLogService/GetReplay": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/ListReplays": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/CancelReplay": ["gateway"],
  "vidimus.delivery.v1.DeliveryLogService/CountDeliveries": [],
};

/** The RPC services of each teams door, and of the admin door of signing. */
const teamsDoors = {
  access: [AccessService, MemberService],
  documents: [DocumentService, SchemaService, WorkflowService],
  phrases: [PhraseService],
  delivery: [EndpointService, DeliveryLogService],
  signing: [KeyAdminService],
} as const satisfies Record<string, readonly DescService[]>;

const inside = (tenantId: string) => ({ tenantId });
const inItems = (tenantId: string) => ({ items: [{ tenantId }] });
/**
 * How a request of each method of the teams doors names its tenant; "all" for methods that need a
 * grant for all tenants, "none" for methods that concern no tenant.
 */
const teamsTable: Readonly<Record<string, ((tenantId: string) => object) | "all" | "none">> = {
  "vidimus.access.v1.AccessService/CreateTenant": "all",
  "vidimus.access.v1.AccessService/ListTenants": "all",
  "vidimus.access.v1.AccessService/DisableTenant": "all",
  "vidimus.access.v1.AccessService/EnableTenant": "all",
  "vidimus.access.v1.AccessService/CreateApiKey": inside,
  "vidimus.access.v1.AccessService/ListApiKeys": inside,
  "vidimus.access.v1.AccessService/GetApiKey": inside,
  "vidimus.access.v1.AccessService/ListScopes": "none",
  "vidimus.access.v1.AccessService/UpdateApiKeyScopes": inside,
  "vidimus.access.v1.AccessService/RollApiKey": inside,
  "vidimus.access.v1.AccessService/RevokeApiKey": inside,
  "vidimus.access.v1.AccessService/ListAuditEntries": inside,
  "vidimus.access.v1.MemberService/ListMembers": inside,
  "vidimus.access.v1.MemberService/GetMember": inside,
  "vidimus.access.v1.MemberService/ListMemberships": "all",
  "vidimus.access.v1.MemberService/InviteMember": inside,
  "vidimus.access.v1.MemberService/ListInvitations": inside,
  "vidimus.access.v1.MemberService/RevokeInvitation": inside,
  "vidimus.access.v1.MemberService/GetInvitation": "all",
  "vidimus.access.v1.MemberService/AcceptInvitation": "all",
  "vidimus.access.v1.MemberService/UpdateMemberRoles": inside,
  "vidimus.access.v1.MemberService/RemoveMember": inside,
  "vidimus.access.v1.MemberService/CreateSignInLink": "all",
  "vidimus.access.v1.MemberService/GetSignInLink": "all",
  "vidimus.access.v1.MemberService/RedeemSignInLink": "all",
  "vidimus.documents.v1.DocumentService/CreateDocument": inside,
  "vidimus.documents.v1.DocumentService/BatchCreateDocuments": inItems,
  "vidimus.documents.v1.DocumentService/ImportDocuments": inside,
  "vidimus.documents.v1.DocumentService/ValidateDocument": inside,
  "vidimus.documents.v1.DocumentService/UpdateDocument": inside,
  "vidimus.documents.v1.DocumentService/TransitionDocument": inside,
  "vidimus.documents.v1.DocumentService/BatchTransitionDocuments": inside,
  "vidimus.documents.v1.DocumentService/GetDocument": inside,
  "vidimus.documents.v1.DocumentService/ListDocuments": inside,
  "vidimus.documents.v1.DocumentService/ListTransitions": inside,
  "vidimus.documents.v1.DocumentService/ListDocumentVersions": inside,
  "vidimus.documents.v1.DocumentService/GetDocumentVersion": inside,
  "vidimus.documents.v1.DocumentService/ListDocumentHistory": inside,
  "vidimus.documents.v1.SchemaService/CreateSchemaGeneration": inside,
  "vidimus.documents.v1.SchemaService/GetSchemaGeneration": inside,
  "vidimus.documents.v1.SchemaService/ListSchemaGenerations": inside,
  "vidimus.documents.v1.SchemaService/ListAuditEntries": inside,
  "vidimus.documents.v1.WorkflowService/CreateWorkflowVersion": inside,
  "vidimus.documents.v1.WorkflowService/GetWorkflowVersion": inside,
  "vidimus.documents.v1.WorkflowService/ListWorkflows": inside,
  "vidimus.documents.v1.WorkflowService/ActivateWorkflow": inside,
  "vidimus.documents.v1.WorkflowService/ListWorkflowActivations": inside,
  "vidimus.phrases.v1.PhraseService/ListPhrases": inside,
  "vidimus.phrases.v1.PhraseService/GetPhrase": inside,
  "vidimus.phrases.v1.PhraseService/UpsertPhrase": inside,
  "vidimus.phrases.v1.PhraseService/ImportPhrases": inside,
  "vidimus.phrases.v1.PhraseService/DeletePhrase": inside,
  "vidimus.phrases.v1.PhraseService/BatchDeletePhrases": inside,
  "vidimus.phrases.v1.PhraseService/DeleteLanguage": inside,
  "vidimus.phrases.v1.PhraseService/GetDictionaryRevision": inside,
  "vidimus.delivery.v1.EndpointService/CreateEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/ListEndpoints": inside,
  "vidimus.delivery.v1.EndpointService/GetEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/UpdateEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/EnableEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/DisableEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/RotateEndpointSecret": inside,
  "vidimus.delivery.v1.EndpointService/TestEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/DeleteEndpoint": inside,
  "vidimus.delivery.v1.EndpointService/ListAuditEntries": inside,
  "vidimus.delivery.v1.DeliveryLogService/ListDeliveries": inside,
  "vidimus.delivery.v1.DeliveryLogService/GetDelivery": inside,
  "vidimus.delivery.v1.DeliveryLogService/Redeliver": inside,
  "vidimus.delivery.v1.DeliveryLogService/StartReplay": inside,
  "vidimus.delivery.v1.DeliveryLogService/CountReplay": inside,
  "vidimus.delivery.v1.DeliveryLogService/GetReplay": inside,
  "vidimus.delivery.v1.DeliveryLogService/ListReplays": inside,
  "vidimus.delivery.v1.DeliveryLogService/CancelReplay": inside,
  "vidimus.delivery.v1.DeliveryLogService/CountDeliveries": inside,
  "vidimus.signing.v1.KeyAdminService/ListRing": "all",
  "vidimus.signing.v1.KeyAdminService/PrepareKey": "all",
  "vidimus.signing.v1.KeyAdminService/ActivateKey": "all",
  "vidimus.signing.v1.KeyAdminService/RetireKey": "all",
  "vidimus.signing.v1.KeyAdminService/RevokeKey": "all",
  "vidimus.signing.v1.KeyAdminService/AuditLedger": "all",
  "vidimus.signing.v1.KeyAdminService/RewrapKeys": "all",
  "vidimus.signing.v1.KeyAdminService/ListAuditEntries": "all",
  "vidimus.signing.v1.KeyAdminService/InstallDelegation": "all",
};

const newsroom = "spiffe://vidimus.localhost/team/newsroom";
const others = "spiffe://vidimus.localhost/team/others";
const listMembers = "vidimus.access.v1.MemberService/ListMembers";
const strangerHost = { hosts: ["localhost"] };

let stack: Constellation;
let identities: NonNullable<Constellation["identities"]>;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "known-callers-"));
  stack = await openConstellation({ mongoUrl: inject("mongoUrl"), mtls: true });
  if (!stack.identities) throw new Error("the constellation has no certificates");
  identities = stack.identities;
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

it("the tables have exactly one row for each method of the services of their doors", () => {
  const names = (doors: Record<string, readonly DescService[]>) => methodsOf(Object.values(doors).flat()).map(nameOf);
  expect(Object.keys(meshTable).toSorted()).toEqual(names(meshDoors).toSorted());
  expect(Object.keys(teamsTable).toSorted()).toEqual(names(teamsDoors).toSorted());
});

/**
 * Certificates that prove no identity: none at all, of another CA, expired, with two names, and
 * without a name.
 */
async function badCertificates(): Promise<readonly [string, TlsFiles | undefined][]> {
  const elsewhere = await makeIdentities(join(dir, "elsewhere"));
  const gateway = "spiffe://vidimus.localhost/gateway";
  const operator = "spiffe://vidimus.localhost/operator";
  const self = createAuthority().issue({ uris: [gateway], ...strangerHost });
  const files = { certFile: join(dir, "self.pem"), keyFile: join(dir, "self-key.pem"), caFile: "" };
  writeFileSync(files.certFile, self.cert);
  writeFileSync(files.keyFile, self.key, { mode: 0o600 });
  return [
    ["no certificate", undefined],
    ["a gateway of another CA", files],
    ["an operator of another CA", elsewhere.operator],
    ["an expired gateway", await identities.issue("old", [gateway], new Date(Date.now() - 1_000))],
    ["an expired operator", await identities.issue("older", [operator], new Date(Date.now() - 1_000))],
    ["two services in one", await identities.issue("two", [gateway, "spiffe://vidimus.localhost/delivery"])],
    ["two operators in one", await identities.issue("both", [operator, newsroom])],
    ["no name", await identities.issue("none", [])],
  ];
}

describe("a certificate that proves no identity", () => {
  it("opens no method of any door", { timeout: 120_000 }, async () => {
    const certificates = await badCertificates();
    const doors = [
      ...Object.entries(meshDoors).map(([name, services]) => [stack.dev.mesh[name as "access"], services] as const),
      ...Object.entries(teamsDoors).map(([name, services]) => [stack.dev.grpc[name as "access"], services] as const),
    ];
    const open: string[] = [];
    for (const [target, services] of doors) {
      for (const [name, files] of certificates) {
        using caller = callerAt(target, identities.operator.caFile, files);
        const methods = methodsOf(services);
        const codes = await Promise.all(methods.map((method) => caller.call(method, inside("demo"), "admin")));
        codes.forEach((code, at) => {
          if (["Unavailable", "DeadlineExceeded", "Unauthenticated"].includes(code)) return;
          open.push(`${nameOf(methods[at]!)} for ${name}: ${code}`);
        });
      }
    }
    expect(open).toEqual([]);
  });
});

const serviceNames = ["gateway", "documents", "phrases", "signing", "delivery"] as const;
const callers = [...serviceNames, "operator"] as const;

describe.each(callers)("at the mesh doors %s", (caller) => {
  it("may call the methods that the table of mesh doors allows it, and no other", async () => {
    const files = caller === "operator" ? identities.operator : identities.services[caller];
    const found: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const [door, services] of Object.entries(meshDoors)) {
      using at = callerAt(stack.dev.mesh[door as "access"], files.caFile, files);
      for (const method of methodsOf(services)) {
        const code = await at.call(method);
        const row = meshTable[nameOf(method)];
        found[nameOf(method)] = ["PermissionDenied", "Unimplemented"].includes(code) ? code : "answered";
        expected[nameOf(method)] = row?.includes(caller) ? "answered" : "PermissionDenied";
      }
    }
    expect(found).toEqual(expected);
  });
});

describe("at the teams doors", () => {
  let team: TlsFiles;
  let outsiders: TlsFiles;
  beforeAll(async () => {
    team = await identities.issue("newsroom", [newsroom]);
    outsiders = await identities.issue("others", [others]);
    await addGrants();
  });

  /**
   * Extends the grants file while the services run, and waits until each has read it, except
   * signing: its admin door has no method for one tenant, and so none that these grants open.
   */
  async function addGrants(): Promise<void> {
    const file = JSON.parse(readFileSync(identities.grantsFile, "utf8")) as { grants: object[] };
    const services = Object.values(teamsDoors).flatMap((door) => door.map(({ typeName }) => typeName));
    file.grants.push({ identity: newsroom, tenants: ["demo"], services, roles: ["editor", "owner"] });
    file.grants.push({ identity: others, tenants: ["*"], methods: [listMembers], roles: ["editor", "admin"] });
    writeFileSync(identities.grantsFile, JSON.stringify(file));
    for (const [door, [service]] of Object.entries(teamsDoors)) {
      using caller = callerAt(stack.dev.grpc[door as "access"], team.caFile, team);
      const list = service.methods.find(({ name }) => /^List(ApiKeys|Documents|Endpoints|Phrases)$/.test(name));
      if (!list) continue;
      await vi.waitFor(async () => expect(await caller.call(list, inside("demo"))).not.toBe("PermissionDenied"), 5_000);
    }
  }

  /** Calls every method of the teams doors. Returns the codes by name of the method. */
  async function codesOf(
    files: TlsFiles,
    requestOf: (row: (tenantId: string) => object, method: DescMethod) => object,
    role: string,
  ): Promise<Map<string, string>> {
    const codes = new Map<string, string>();
    for (const [door, services] of Object.entries(teamsDoors)) {
      using caller = callerAt(stack.dev.grpc[door as "access"], files.caFile, files);
      for (const method of methodsOf(services)) {
        const row = teamsTable[nameOf(method)];
        const request = requestOf(typeof row === "function" ? row : inside, method);
        codes.set(nameOf(method), await caller.call(method, request, role));
      }
    }
    return codes;
  }
  const refused = (codes: ReadonlyMap<string, string>) =>
    [...codes].filter(([, code]) => code === "PermissionDenied").map(([name]) => name);
  const everyMethod = Object.keys(teamsTable);
  const forAll = everyMethod.filter((name) => teamsTable[name] === "all");

  it("a team may call every method within its grant, but none that needs all tenants", async () => {
    // `demo` is not to be disabled, since other tests use it.
    const codes = await codesOf(team, (row, { name }) => row(name === "DisableTenant" ? "gone" : "demo"), "owner");
    const within = everyMethod.filter((name) => !forAll.includes(name) && !name.endsWith("/DisableTenant"));
    expect(within.filter((name) => ["PermissionDenied", "Unauthenticated"].includes(codes.get(name) ?? ""))).toEqual(
      [],
    );
    expect(forAll.map((name) => codes.get(name))).toEqual(forAll.map(() => "PermissionDenied"));
  });

  const tenantless = everyMethod.filter((name) => teamsTable[name] === "none");

  it.each([
    [
      "that names a tenant outside of its grant is refused every method that concerns a tenant",
      () => team,
      "rival",
      "editor",
      tenantless,
    ],
    ["that names no tenant is refused every method that concerns a tenant", () => team, "", "editor", tenantless],
    ["with a role outside of its grant is refused every method", () => team, "demo", "admin", []],
    ["with a grant for one method is refused every other method", () => outsiders, "demo", "admin", [listMembers]],
    [
      "with a service's own certificate and no grant is refused every method",
      () => identities.services.delivery,
      "demo",
      "editor",
      [],
    ],
  ])("a caller %s", async (_name, files, tenantId, role, open) => {
    const codes = await codesOf(files(), (row) => row(tenantId), role);
    expect(refused(codes).toSorted()).toEqual(everyMethod.filter((name) => !open.includes(name)).toSorted());
  });
});

it("a document's history keeps the identity of the certificate beside the actor", async () => {
  using demo = openNewsroom(stack.dev);
  const documentId = await demo.push();
  await demo.transition(documentId, "publish");
  const { entries } = await demo.documents.listDocumentHistory({ tenantId: "demo", documentId }, as("editor"));
  expect(entries.map(({ by }) => [by?.actor, by?.identity])).toEqual([
    ["test-editor", "spiffe://vidimus.localhost/operator"],
    [expect.stringMatching(/^key:/), "spiffe://vidimus.localhost/gateway"],
  ]);
});

it("an audit entry has the certificate's identity, and the API key's prefix for a change over HTTP", async () => {
  using demo = openNewsroom(stack.dev);
  const url = "http://127.0.0.1:9/";
  const { endpoint } = await demo.endpoints.createEndpoint({ tenantId: "demo", url }, as("admin"));
  const path = `/v1/webhooks/endpoints/${endpoint!.endpointId}`;
  const from = { "x-forwarded-for": "192.0.2.9" };
  expect((await demo.request(path, { method: "DELETE", headers: from })).status).toBe(200);
  const { entries } = await demo.endpoints.listAuditEntries({ tenantId: "demo", limit: 2 }, as("admin"));
  const prefix = demo.apiKey.slice(3, 15);
  expect(entries).toMatchObject([
    {
      action: "delete_endpoint",
      actor: `key:${prefix}`,
      keyPrefix: prefix,
      identity: "spiffe://vidimus.localhost/gateway",
      // No proxy is trusted, so the address in the header is ignored.
      fromAddress: "127.0.0.1",
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
    { action: "create_endpoint", actor: "test-admin", keyPrefix: "", identity: "spiffe://vidimus.localhost/operator" },
  ]);
});

it(
  "the authority is replaced under load without a failed call, then old certificates are refused",
  { timeout: 120_000 },
  async () => {
    const { operator } = identities;
    const doors = [...Object.values(stack.dev.mesh), ...Object.values(stack.dev.grpc)];
    const before = await identities.issue("before", ["spiffe://vidimus.localhost/operator"]);
    const removeOld = await identities.replaceAuthority();
    // Like every process, a caller believes both authorities before the first certificate changes.
    const newsrooms = [openNewsroom(stack.dev)];
    const stop = new AbortController();
    let published = 0;
    const work = async () => {
      while (!stop.signal.aborted) {
        const demo = newsrooms.at(-1)!;
        const documentId = await demo.push();
        await demo.transition(documentId, "publish");
        const answer = await demo.request(`/v1/publisher/documents/${documentId}`);
        if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
        published += 1;
      }
    };
    const running = Promise.all(Array.from({ length: 8 }, work));
    const pass = async () => {
      const soFar = published;
      await vi.waitFor(() => expect(published).toBeGreaterThan(soFar + 8), { timeout: 30_000 });
    };
    const after = await identities.issue("after", ["spiffe://vidimus.localhost/operator"]);
    await refusedOrAdmitted(doors, after, "admitted");
    for (const service of serviceNames) {
      const old = readFileSync(identities.services[service].certFile, "utf8");
      await identities.renew(service);
      expect(readFileSync(identities.services[service].certFile, "utf8")).not.toBe(old);
      await pass();
    }
    await identities.renew("operator");
    newsrooms.push(openNewsroom(stack.dev));
    await pass();
    // This caller connects before the old authority is removed; the removal must end its
    // connection.
    using caller = callerAt(stack.dev.grpc.documents, operator.caFile, before);
    const list = methodsOf([DocumentService]).find(({ name }) => name === "ListDocuments")!;
    expect(await caller.call(list, inside("demo"), "editor")).toBe("ok");
    await removeOld();
    await refusedOrAdmitted(doors, before, "refused");
    // A call that the caller has sent before it hears that its connection ends is still answered.
    const ended = async () => expect(await caller.call(list, inside("demo"), "editor")).toBe("Unavailable");
    await vi.waitFor(ended, { timeout: 5_000, interval: 20 });
    await pass();
    stop.abort();
    await running;
    for (const newsroom of newsrooms) newsroom[Symbol.dispose]();
  },
);

/** Waits until every door admits a certificate, or refuses it. */
async function refusedOrAdmitted(targets: readonly string[], files: TlsFiles, outcome: string): Promise<void> {
  const outcomeAt = (target: string) =>
    new Promise<string>((resolve) => {
      const { port, hostname } = new URL(`https://${target}`);
      const [cert, key, ca] = [files.certFile, files.keyFile, files.caFile].map((file) => readFileSync(file));
      const options = { port: Number(port), host: hostname, cert, key, ca, checkServerIdentity: () => undefined };
      const socket = connect({ ...options, ALPNProtocols: ["h2"] });
      // A server of TLS 1.3 refuses a certificate only after the client's handshake, so the client
      // is admitted only when the first bytes of HTTP/2, the settings, arrive.
      socket.once("data", () => (resolve("admitted"), socket.destroy())).on("error", () => resolve("refused"));
      socket.once("close", () => resolve("refused"));
    });
  for (const target of targets) {
    await vi.waitFor(async () => expect(await outcomeAt(target)).toBe(outcome), { timeout: 10_000, interval: 100 });
  }
}
