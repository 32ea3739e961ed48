/** Internal teams are told when a tenant does not exist, or is disabled. */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import { WorkflowService } from "@vidimus/contracts/vidimus/documents/v1/workflow_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { devCredentials } from "@vidimus/devstack/stack/dev-client";
import { createGrpcTransport } from "@vidimus/kit/rpc/client/grpc-transport";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { codeOfCall, methodsOf, nameOf } from "../support/door-methods.ts";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver } from "../support/receiver.ts";
import { asAdmin, openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

const doors = {
  documents: [DocumentService, SchemaService, WorkflowService],
  phrases: [PhraseService],
  delivery: [EndpointService, DeliveryLogService],
} as const satisfies Record<string, readonly DescService[]>;

/**
 * The methods that change nothing, and so go on for a disabled tenant. `npm run check` compares
 * these names with the effects in the services' routes.
 */
const reads = /\/(Count|Get|List|Validate)\w+$/;

let stack: SharedConstellation;
let tenants: Tenants;
beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
});
afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

/** The code of every method of the doors, called for a tenant by an administrator. */
async function codesFor(tenantId: string): Promise<ReadonlyMap<string, string>> {
  const codes = new Map<string, string>();
  for (const [name, services] of Object.entries(doors)) {
    const door = name as keyof typeof doors;
    const credentials = devCredentials(stack.dev.tls, door);
    const transport = createGrpcTransport({
      target: `dns:///${stack.dev.grpc[door]}`,
      ...(credentials && { credentials }),
    });
    for (const method of methodsOf(services)) {
      codes.set(nameOf(method), await codeOfCall(transport, method, requestOf(method, tenantId), "admin"));
    }
    transport.close();
  }
  return codes;
}

const requestOf = ({ name }: DescMethod, tenantId: string) =>
  name === "BatchCreateDocuments" ? { items: [{ tenantId }] } : { tenantId };

async function untilDisabled(newsroom: Newsroom): Promise<void> {
  await tenants.access.disableTenant({ tenantId: newsroom.tenantId }, asAdmin);
  await vi.waitFor(
    async () => await expect(newsroom.transition(crypto.randomUUID(), "publish")).rejects.toThrow("is disabled"),
    { timeout: 10_000 },
  );
}

it("at the teams doors of documents, phrases and delivery each method for an unknown tenant is NOT_FOUND", async () => {
  const codes = await codesFor("dmeo");
  expect([...codes].filter(([, code]) => code !== "NotFound")).toEqual([]);
});

it("the error for a tenant that does not exist names the tenant", async () => {
  await expect(openNewsroom(stack.dev, "typo").documents.listDocuments({ tenantId: "typo" }, asAdmin)).rejects.toThrow(
    'there is no tenant "typo"',
  );
});

it("documents serves a tenant as soon as it is created", async () => {
  const fresh = await tenants.create();
  const { documents } = await fresh.documents.listDocuments({ tenantId: fresh.tenantId }, asAdmin);
  expect(documents).toEqual([]);
});

// The tests run at the same time so that their waits overlap: services pull the list of tenants
// every five seconds.
describe.concurrent("a disabled tenant", () => {
  it("can be read but not written until it is enabled", async () => {
    const newsroom = await tenants.create();
    await untilDisabled(newsroom);
    const isDisabled = ([, code]: readonly [string, string]) => code === "FailedPrecondition";
    await vi.waitFor(
      async () => {
        const codes = [...(await codesFor(newsroom.tenantId))];
        const written = codes.map(([name]) => name).filter((name) => !reads.test(name));
        expect(codes.filter(isDisabled).map(([name]) => name)).toEqual(written);
      },
      { timeout: 20_000 },
    );
    await tenants.access.enableTenant({ tenantId: newsroom.tenantId }, asAdmin);
    await vi.waitFor(async () => expect([...(await codesFor(newsroom.tenantId))].filter(isDisabled)).toEqual([]), {
      timeout: 20_000,
    });
  });

  it("still gets the retry of a webhook for a document published before the tenant was disabled", async () => {
    const newsroom = await tenants.create();
    await using receiver = await openReceiver();
    // The first attempt is answered when the tenant is disabled, so that the second one, 4 to 6 s
    // later, is made for a disabled tenant.
    const disabled = Promise.withResolvers<number>();
    receiver.answerWith(({ headers }) => (headers["vidimus-attempt"] === "1" ? disabled.promise : 204));
    await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
    const documentId = await newsroom.push();
    await newsroom.transition(documentId, "publish");
    await receiver.about(documentId);
    await untilDisabled(newsroom);
    expect(receiver.received).toHaveLength(1);
    disabled.resolve(503);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 20_000 });
  });
});
