import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";
import { type FeedItem, wireFeed } from "./feed.ts";
import { openReceiver, type ReceivedWebhook, type Receiver } from "./receiver.ts";
import { type TrustedKey, VerificationError, verifyDelivery } from "../../packages/verify/src/verify.ts";
import { findFaults, withOneByteChanged } from "./verify.ts";

const tenantId = "demo";
const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "demo" } };
const asEditor = { headers: { "vidimus-role": "editor", "vidimus-actor": "demo" } };

const step = (title: string) => console.log(`\n${title}`);
const print = (line: string) => console.log(`  ${line}`);

/**
 * Pushes, publishes, receives and verifies a feed, and reads its articles back. Throws at the first
 * failure.
 *
 * @param receiverHost address of this machine at which delivery reaches the receiver
 */
export async function demonstrate(dev: DevJson, receiverHost = "127.0.0.1"): Promise<void> {
  const apiKey = dev.tenants.find(({ id }) => id === tenantId)?.apiKey ?? "";
  const feed = wireFeed(Date.now().toString(36));
  await using receiver = await openReceiver(receiverHost);
  await using endpoint = await registerEndpoint(dev, receiver);

  step(`2. Push ${feed.length} documents to POST ${dev.gateway}/v1/documents`);
  for (const item of feed) await push(dev.gateway, apiKey, item);

  step("3. Publish them, as an editor's tool would, over gRPC");
  await publish(dev, feed);

  step("4. Wait for the signed webhooks");
  const webhooks = await receiver.until(feed.length, 30_000);
  for (const { headers, body } of webhooks)
    print(`${headers["webhook-id"]}  ${headers["vidimus-event"]}  ${body.length} bytes`);

  step(`5. Verify each with the keys of ${dev.gateway}/api/keys`);
  await verifyAll(webhooks, endpoint.secret, await trustList(dev.gateway));

  step("6. Read the articles back");
  await readBack(dev.gateway, apiKey, feed);
  console.log(
    `\nSuccess: ${feed.length} documents pushed, published, received and verified; a changed byte was refused.`,
  );
}

async function registerEndpoint(dev: DevJson, receiver: Receiver) {
  step(`1. Register a receiver at ${receiver.url}`);
  const client = openDevClient(dev, "delivery", EndpointService);
  const { endpoint, secret } = await client.createEndpoint({ tenantId, url: receiver.url }, asAdmin);
  const endpointId = endpoint?.endpointId ?? "";
  print(`endpoint ${endpointId}, its secret is shown once: ${secret.slice(0, 10)}…`);
  return {
    secret,
    async [Symbol.asyncDispose]() {
      await client.deleteEndpoint({ tenantId, endpointId }, asAdmin);
      client[Symbol.dispose]();
    },
  };
}

async function push(gateway: string, apiKey: string, item: FeedItem): Promise<void> {
  const post = () =>
    fetch(`${gateway}/v1/documents`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(item),
    });
  const first = await post();
  if (first.status !== 201) throw new Error(`${item.id} was answered ${first.status}: ${await first.text()}`);
  const again = await post();
  if (again.status !== 409) throw new Error(`the repeat of ${item.id} was answered ${again.status}, not 409`);
  const title = typeof item.title === "string" ? item.title : JSON.stringify(item.title);
  print(`201 ${item.id}  ${item.type}  “${title}”  (a repeat: 409)`);
}

async function publish(dev: DevJson, feed: readonly FeedItem[]): Promise<void> {
  using documents = openDevClient(dev, "documents", DocumentService);
  for (const { id } of feed) {
    const transition = { documentId: id, name: "publish", expectedVersion: 1n };
    const { status, version, sequence } = await documents.transitionDocument({ tenantId, transition }, asEditor);
    if (status !== "usable") throw new Error(`${id} is ${status} after publish`);
    print(`${id}  version ${version} is ${status}, snapshot ${sequence}`);
  }
}

async function trustList(gateway: string): Promise<TrustedKey[]> {
  const { active, keys } = (await (await fetch(`${gateway}/api/keys`)).json()) as {
    active: string;
    keys: TrustedKey[];
  };
  print(`the active key is ${active}, ${keys.length} are listed`);
  return keys;
}

async function verifyAll(
  webhooks: readonly ReceivedWebhook[],
  secret: string,
  keys: readonly TrustedKey[],
): Promise<void> {
  for (const webhook of webhooks) {
    const id = webhook.headers["webhook-id"];
    const faults = await findFaults(webhook, secret, keys);
    if (faults.length > 0) throw new Error(`${id} is refused by ${faults.join(", ")}`);
    const changed = withOneByteChanged(webhook);
    const refusals = await findFaults(changed, secret, keys);
    if (refusals.join() !== "HMAC,digest")
      throw new Error(`${id} with a changed byte is refused by [${refusals.join()}]`);
    await verifyDelivery(webhook, { secret, keys });
    const fault = await faultOf(changed, secret, keys);
    if (fault !== "body") throw new Error(`@vidimus/verify says of ${id} with a changed byte: ${fault}`);
    print(`${id}  HMAC, Ed25519 and digest hold; with one byte changed ${refusals.join(" and ")} refuse it`);
  }
  print("@vidimus/verify, which receivers install, accepts the same webhooks and refuses the changed ones");
}

async function faultOf(webhook: ReceivedWebhook, secret: string, keys: readonly TrustedKey[]): Promise<string> {
  return verifyDelivery(webhook, { secret, keys }).then(
    () => "nothing",
    (error: unknown) => (error instanceof VerificationError ? error.fault : String(error)),
  );
}

async function readBack(gateway: string, apiKey: string, feed: readonly FeedItem[]): Promise<void> {
  const answer = await fetch(`${gateway}/v1/documents?type=core/article&limit=200`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const { data } = (await answer.json()) as { data: { items: { id: string; title: string; updated_at: string }[] } };
  for (const { id } of feed.filter(({ type }) => type === "core/article")) {
    const found = data.items.find((item) => item.id === id);
    if (!found) throw new Error(`${id} is published but not among the articles`);
    print(`${found.updated_at}  ${id}  “${found.title}”`);
  }
}
