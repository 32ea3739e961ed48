/** The attestations that documents makes for signing, and the signatures that audits get. */
import { Code } from "@connectrpc/connect";
import { attestationOf } from "@vidimus/contracts/attestation";
import { endorsementOf } from "@vidimus/contracts/endorsement";
import { SignatureAuditService } from "@vidimus/contracts/vidimus/documents/v1/signature_audit_service";
import { openRpcClient, type RpcClient } from "@vidimus/kit/rpc/client/client";
import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";
import { settlementOf, signatureOf } from "./support/settling.ts";

const stack = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), "vidimus-attestation-"));
const key = randomBytes(32);
let service: Publishing;
let audit: RpcClient<typeof SignatureAuditService>;

beforeAll(async () => {
  stack.defer(() => rmSync(folder, { recursive: true }));
  const attestationKeyFile = join(folder, "key");
  writeFileSync(attestationKeyFile, key, { mode: 0o600 });
  const servers = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") };
  service = stack.use(await runPublishing({ ...servers, attestationKeyFile }));
  audit = stack.use(openRpcClient(SignatureAuditService, { target: service.meshTarget }));
});
afterAll(() => stack.disposeAsync());

async function publish(tenantId: string, of = service) {
  const documentId = await of.create(tenantId, article());
  await of.take(tenantId, documentId, "publish");
  return { tenantId, documentId, sequence: 1n };
}

test("a snapshot is handed out with an attestation of its reference, version, status and digest", async () => {
  const reference = await publish("acme");
  await service.take("acme", reference.documentId, "withhold");
  const references = [reference, { ...reference, sequence: 2n }];
  const { snapshots } = await service.feed.getSnapshots({ references });
  const expected = ["usable", "withheld"].map((status, index) => {
    const { documentId } = reference;
    const { sha256 } = snapshots[index]!;
    const snapshot = { tenantId: "acme", documentId, sequence: index + 1, version: 1, status, sha256 };
    return attestationOf(createSecretKey(key), snapshot);
  });
  expect(snapshots.map(({ attestation }) => Buffer.from(attestation))).toEqual(expected);
});

test("a service without an attestation key hands out a snapshot without attestation", async () => {
  const servers = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") };
  await using other = await runPublishing({ ...servers, database: service.database, attestationKeyFile: "" });
  const { snapshots } = await other.feed.getSnapshots({ references: [await publish("acme")] });
  expect(snapshots[0]!.attestation).toHaveLength(0);
});

test("the signatures of all tenants are listed once each, in order of tenant and document", async () => {
  const signed = await Promise.all(["b", "a", "b", "a", "c"].map((tenantId) => publish(tenantId)));
  await publish("a");
  const made = signed.map((reference, at) => signatureOf(reference, { keyId: `key-${at}`, fill: at + 1 }));
  const settlements = signed.map((reference, at) => {
    const signature = made[at]!;
    return settlementOf(reference, signature, endorsementOf(createSecretKey(key), signature));
  });
  await service.feed.settleSnapshots({ settlements });
  for (const limit of [1, 2, 1_000]) {
    const listed = [];
    for (let pageToken = ""; ;) {
      const page = await audit.listSignatures({ limit, pageToken });
      listed.push(...page.signatures);
      if (page.nextPageToken === "") break;
      pageToken = page.nextPageToken;
    }
    const nameOf = ({ tenantId, documentId }: { tenantId: string; documentId: string }) => `${tenantId} ${documentId}`;
    expect(listed.map(({ reference }) => nameOf(reference!))).toEqual(signed.map(nameOf).toSorted());
    const first = listed.find(({ reference }) => reference?.documentId === signed[0]!.documentId);
    expect(first?.signature).toMatchObject({ keyId: "key-0", statement: made[0]!.statement, signingNumber: 1 });
    expect(Buffer.from(first!.signature!.value)).toEqual(Buffer.from(made[0]!.value));
  }
});

describe("GetSignatures", () => {
  let own: Publishing;
  let reader: RpcClient<typeof SignatureAuditService>;
  let signed: Awaited<ReturnType<typeof publish>>;
  let unsigned: typeof signed;

  beforeAll(async () => {
    own = stack.use(await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") }));
    reader = stack.use(openRpcClient(SignatureAuditService, { target: own.meshTarget }));
    [signed, unsigned] = [await publish("a", own), await publish("a", own)];
    await own.feed.settleSnapshots({ settlements: [settlementOf(signed)] });
  });

  async function read() {
    const references = [signed, unsigned, { ...unsigned, documentId: randomUUID() }];
    return (await reader.getSignatures({ references })).signatures;
  }

  test("answers each known snapshot, with its signature if it is signed", async () => {
    const held = new Map(
      (await read()).map(({ reference, signature }) => [reference!.documentId, signature?.statement]),
    );
    expect(held).toEqual(
      new Map([
        [signed.documentId, signatureOf(signed).statement],
        [unsigned.documentId, undefined],
      ]),
    );
  });

  test("has the newest sequence of each known snapshot's document", async () => {
    await own.take("a", unsigned.documentId, "withhold");
    const newest = new Map(
      (await read()).map(({ reference, newestSequence }) => [reference!.documentId, newestSequence]),
    );
    expect(newest).toEqual(
      new Map([
        [signed.documentId, 1n],
        [unsigned.documentId, 2n],
      ]),
    );
  });
});

test("ListSignatures refuses a malformed page token", async () => {
  await expect(audit.listSignatures({ pageToken: "x" })).rejects.toMatchObject({ code: Code.InvalidArgument });
});
