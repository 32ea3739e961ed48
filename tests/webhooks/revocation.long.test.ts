/** What the platform does by itself after a signing key was revoked, on a whole stack. */
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { expect, test, vi } from "vitest";
import { as, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Webhook } from "../support/receiver.ts";

const documents = 20;
const patient = { timeout: 90_000, interval: 100 };
const idOf = ({ headers }: Webhook) => String(headers["webhook-id"]);
const dataOf = ({ body }: Webhook) => payloadOf({ body }).data;

interface VersionJson {
  readonly data: { readonly version: { readonly snapshots: { readonly signature: { readonly keyId: string } }[] } };
}

test(
  "a revoked key's snapshots are signed anew and sent again although both delivery processes are killed",
  { timeout: 240_000 },
  async () => {
    await using stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" }, { delivery: 2 });
    await using receiver = await openReceiver();
    using newsroom = openNewsroom(stack.dev);
    using admin = openDevClient(stack.dev, "signing", KeyAdminService);
    await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
    const documentIds: string[] = [];
    for (let at = 0; at < documents; at += 1) {
      const documentId = await newsroom.push();
      await newsroom.transition(documentId, "publish");
      documentIds.push(documentId);
    }
    const leaked = dataOf(await receiver.about(documentIds[0]!)).signature.keyId;
    for (const documentId of documentIds) await receiver.about(documentId);
    const audit = async () => (await admin.auditLedger({}, { ...as("admin"), timeoutMs: 30_000 })).documents;
    await vi.waitUntil(async () => (await audit())?.unsettled === 0n, patient);

    const { activeKeyId } = await admin.revokeKey({ keyId: leaked, emergency: true }, as("admin"));
    expect(await audit()).toMatchObject({ revoked: BigInt(documents) });
    await vi.waitUntil(async () => (await audit())?.revoked === 0n, patient);
    const { pids } = await stack.current();
    for (const name of ["delivery", "delivery-2"]) process.kill(pids[name]!, "SIGKILL");

    const again = () => receiver.received.filter((webhook) => idOf(webhook).endsWith("_1_r2"));
    await vi.waitUntil(() => new Set(again().map(idOf)).size === documents, patient);
    expect(new Set(again().map((webhook) => dataOf(webhook).signature.keyId))).toEqual(new Set([activeKeyId]));
    expect(new Set(again().map((webhook) => dataOf(webhook).documentId))).toEqual(new Set(documentIds));
    for (const documentId of documentIds) {
      const answer = await newsroom.request(`/v1/publisher/documents/${documentId}/versions/1`);
      const { version } = ((await answer.json()) as VersionJson).data;
      expect(version.snapshots.map(({ signature }) => signature.keyId)).toEqual([activeKeyId]);
    }
    const report = await admin.auditLedger({}, { ...as("admin"), timeoutMs: 30_000 });
    const { fault, documents: held } = report;
    expect({ fault, ...held }).toMatchObject({ fault: "", signatures: BigInt(documents), outdated: 0n, revoked: 0n });
  },
);
