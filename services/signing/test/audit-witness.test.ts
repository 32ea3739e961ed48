/** Audits that compare the ledger with the signatures that documents holds. */
import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import type { Signature } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { startMeshServer } from "@vidimus/kit/rpc/doors/mesh/mesh-server";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { Readiness } from "@vidimus/kit/readiness";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { MongoClient } from "mongodb";
import { afterAll, expect, inject, test } from "vitest";
import { digest, kekFiles, runSigning, signaturesOf, type TestDigest } from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const kekFile = stack.use(kekFiles()).make(1);
const client = stack.use(new MongoClient(inject("mongoUrl")));
const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "test" } };
afterAll(() => stack.disposeAsync());

const nameOf = ({ tenantId, documentId, sequence }: Pick<TestDigest, "tenantId" | "documentId" | "sequence">) =>
  `${tenantId}/${documentId}/${sequence}`;

/** The part of documents that an audit asks, over real RPC, with snapshots in memory. */
async function openDocuments() {
  const held = new Map<string, { reference: TestDigest; signature?: Signature }>();
  const message = ({ reference, signature }: { reference: TestDigest; signature?: Signature }) => {
    const { tenantId, documentId, sequence } = reference;
    const { keyId, statement, value } = signature ?? {};
    const own = signature && { signature: { keyId: keyId!, statement: statement!, value: value! } };
    return { reference: { tenantId, documentId, sequence }, ...own };
  };
  const service = route(SignatureAuditService, {
    // A page has two signatures.
    listSignatures: ({ pageToken }) => {
      const signed = [...held.values()].filter(({ signature }) => signature);
      const at = Number(pageToken || "0");
      const nextPageToken = at + 2 < signed.length ? String(at + 2) : "";
      return { signatures: signed.slice(at, at + 2).map(message), nextPageToken };
    },
    getSignatures: ({ references }) => ({
      signatures: references.flatMap((each) => {
        const found = held.get(nameOf(each));
        return found ? [message(found)] : [];
      }),
    }),
  });
  const process = {
    log: createLogger("documents", "silent"),
    metrics: createMetrics("documents"),
    readiness: new Readiness(),
  };
  const server = await startMeshServer({ ...process, host: "127.0.0.1", port: 0, drainMs: 100, routes: [service] });
  return { held, target: `127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** A ledger of five snapshots in three batches; documents has settled all but the last. */
async function open() {
  await using opening = new AsyncDisposableStack();
  const documents = opening.use(await openDocuments());
  const variables = { SIGNING_KEK_FILE: kekFile, GRPC_PORT: "0", DOCUMENTS_TARGET: documents.target };
  const signing = opening.use(await runSigning(testDatabaseName("signing"), variables));
  const admin = opening.use(openRpcClient(KeyAdminService, { target: `127.0.0.1:${signing.service.grpcPort}` }));
  const items = Array.from({ length: 5 }, () => digest());
  for (const some of [items.slice(0, 2), items.slice(2, 4), items.slice(4)]) {
    const signatures = signaturesOf(await signing.signing.signSnapshots({ items: some }));
    some.forEach((reference, index) =>
      documents.held.set(nameOf(reference), { reference, signature: signatures[index]! }),
    );
  }
  documents.held.set(nameOf(items[4]!), { reference: items[4]! });
  const batches = client.db(signing.database).collection<{ _id: number }>("ledger");
  const opened = opening.move();
  return {
    items,
    held: documents.held,
    batches,
    signing,
    admin,
    audit: () => admin.auditLedger({}, asAdmin),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

test("an audit finds no fault in an undamaged ledger whose last snapshot is not settled yet", async () => {
  await using world = await open();
  const report = await world.audit();
  expect(report).toMatchObject({ batches: 3n, entries: 5n, fault: "" });
  expect(report.documents).toMatchObject({ signatures: 4n, outdated: 0n, unsettled: 1n, revoked: 0n });
});

test("an audit without a noted head finds a cut ledger by a signature that only documents still holds", async () => {
  await using world = await open();
  await world.batches.deleteMany({ _id: { $gte: 2 } });
  const { fault } = await world.audit();
  expect(fault).toMatch(/^documents holds a signature of demo\/\S+ that the ledger does not have$/);
});

test("an audit finds a signature that was replaced in documents", async () => {
  await using world = await open();
  const [one, two] = world.items.map((item) => world.held.get(nameOf(item))!);
  world.held.set(nameOf(one!.reference), { ...one!, signature: two!.signature! });
  expect((await world.audit()).fault).toBe(
    `documents holds another signature of ${nameOf(one!.reference)} than the ledger`,
  );
});

test("an audit finds a signed snapshot that documents does not have", async () => {
  await using world = await open();
  world.held.delete(nameOf(world.items[3]!));
  expect((await world.audit()).fault).toBe(`${nameOf(world.items[3]!)} was signed, and documents has no such snapshot`);
});

test("documents' signature of a snapshot signed anew after a revocation counts as outdated, not as a fault", async () => {
  await using world = await open();
  const { keys } = await world.admin.listRing({}, asAdmin);
  await world.admin.revokeKey({ keyId: keys[0]!.keyId, emergency: true }, asAdmin);
  await expect
    .poll(async () => signaturesOf(await world.signing.signing.signSnapshots({ items: [world.items[0]!] }))[0], {
      timeout: 10_000,
    })
    .toMatchObject({ keyId: keys[1]!.keyId, signingNumber: 2 });
  const report = await world.audit();
  expect(report).toMatchObject({ entries: 6n, fault: "" });
  expect(report.documents).toMatchObject({ signatures: 4n, outdated: 1n, unsettled: 1n, revoked: 4n });
});

/** Audits an empty ledger by a signing process with the given address of documents. */
async function auditWith(address: Record<string, string>) {
  const variables = { SIGNING_KEK_FILE: kekFile, GRPC_PORT: "0" };
  await using signing = await runSigning(testDatabaseName("signing"), { ...variables, ...address });
  using admin = openRpcClient(KeyAdminService, { target: `127.0.0.1:${signing.service.grpcPort}` });
  return await admin.auditLedger({}, asAdmin);
}

test("an audit without an address of documents reports no comparison", async () => {
  expect((await auditWith({})).documents).toBeUndefined();
});

test("an audit fails while documents is down", async () => {
  await expect(auditWith({ DOCUMENTS_TARGET: "127.0.0.1:1" })).rejects.toThrow("unavailable");
});
