/**
 * Receivers that fail at first, most of them for three seconds. Each has a tenant of its own, and
 * all fail at the same time.
 */
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { createAuthority } from "@vidimus/devstack/certificates/certificate-authority";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { type Answer, DeliveryLedger, ledgerListener, openLedgerReceiver } from "../support/delivery-ledger.ts";
import { type DeliveryStack, openDeliveryStack } from "../support/delivery-stack.ts";
import { as } from "../support/newsroom.ts";
import { PublishingRun } from "../support/publishing-run.ts";

const faultyMs = 3_000;
const timeoutMs = 150_000;
const opened = new AsyncDisposableStack();
const authority = createAuthority("Receivers of a test");
let stack: DeliveryStack;

beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), "vidimus-receivers-"));
  opened.defer(() => rm(dir, { recursive: true, force: true }));
  const caFile = join(dir, "ca.pem");
  await writeFile(caFile, authority.pair.cert);
  const env = { NODE_EXTRA_CA_CERTS: caFile };
  stack = opened.use(await openDeliveryStack({ mongoUrl: inject("mongoUrl"), deliveries: 2, env }));
});
afterAll(() => opened.disposeAsync());

const accept: Answer = (_post, response) => void response.writeHead(204).end();

/** Answers the posts of the first three seconds with `fault`, and accepts the others. */
function faultyFirst(fault: Answer): Answer {
  let untilMs: number | undefined;
  return (post, response, request) => {
    untilMs ??= post.atMs + faultyMs;
    (post.atMs < untilMs ? fault : accept)(post, response, request);
  };
}

/** Ten documents with two snapshots each. */
async function publishTwenty(tenantId: string): Promise<PublishingRun> {
  const run = new PublishingRun(stack.editor);
  await run.advance(await run.create(tenantId, 10), 2);
  return run;
}

/** Publishes to a receiver that is faulty at first. Returns its ledger. */
async function expectDelivered(tenantId: string, fault: Answer, each: boolean): Promise<DeliveryLedger> {
  await using receiver = await openLedgerReceiver();
  receiver.answerWith(faultyFirst(fault));
  await stack.createEndpoint(tenantId, receiver.url);
  const { published } = await publishTwenty(tenantId);
  await receiver.ledger.expectDelivered(published, { each, ms: 100_000 });
  expect(receiver.ledger.posts.filter((post) => post.status !== 204)).not.toEqual([]);
  return receiver.ledger;
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_post, response) =>
    void response.writeHead(code, headers).end();

describe.concurrent("a receiver that at first", { timeout: timeoutMs }, () => {
  it("answers 500 gets every document's newest snapshot", async () => {
    await expectDelivered("refusing", status(500), false);
  });

  it("answers 503 gets every snapshot", async () => {
    await expectDelivered("unavailable", status(503), true);
  });

  it("answers 429 is left alone until its Retry-After is over, and then gets every snapshot", async () => {
    const { posts } = await expectDelivered("busy", status(429, { "retry-after": "8" }), true);
    const first = posts.find((post) => post.status === 429)!;
    // Posts that were in flight when the receiver answered with 429 may still arrive.
    const early = posts.filter(({ atMs }) => atMs > first.atMs + 1_000 && atMs < first.atMs + 7_900);
    expect(early.map(({ atMs }) => Math.round(atMs - first.atMs))).toEqual([]);
  });

  it("redirects gets every document's newest snapshot itself, and the other address none", async () => {
    await using elsewhere = await openLedgerReceiver();
    await expectDelivered("moved", status(301, { location: elsewhere.url }), false);
    expect(elsewhere.ledger.posts).toEqual([]);
  });

  it("hangs gets every snapshot", async () => {
    await expectDelivered("hanging", () => {}, true);
  });

  it("closes connections without an answer gets every snapshot", async () => {
    await expectDelivered("closing", (_post, _response, request) => void request.socket.destroy(), true);
  });

  it("trickles the head of its answer gets every snapshot", async () => {
    const trickle: Answer = (_post, _response, { socket }) => {
      socket.write("HTTP/1.1 200 OK\r\nx-more: ");
      const timer = setInterval(() => socket.write("."), 200);
      socket.on("close", () => clearInterval(timer));
    };
    await expectDelivered("trickling", trickle, true);
  });

  it("takes seven seconds for a TLS handshake gets every snapshot", async () => {
    await using resources = new AsyncDisposableStack();
    const ledger = new DeliveryLedger();
    const pair = authority.issue({ uris: ["spiffe://test/receiver"], hosts: ["127.0.0.1"] });
    const secure = createTlsServer(
      pair,
      ledgerListener(ledger, () => accept),
    );
    secure.listen(0, "127.0.0.1");
    await once(secure, "listening");
    resources.defer(() => void secure.close());
    resources.defer(() => secure.closeAllConnections());
    const { port } = secure.address() as AddressInfo;
    let slow = 0;
    const untilMs = performance.now() + 10_000;
    const proxy = createServer((socket) => {
      socket.on("error", () => {});
      const forward = () => {
        const onward = connect(port, "127.0.0.1").on("error", () => socket.destroy());
        socket.pipe(onward).pipe(socket);
      };
      if (performance.now() > untilMs) return forward();
      slow += 1;
      // Longer than the 5 s in which a connection must stand.
      setTimeout(forward, 7_000);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    resources.defer(() => void proxy.close());
    await stack.createEndpoint("handshakes", `https://127.0.0.1:${(proxy.address() as AddressInfo).port}/hook`);
    const { published } = await publishTwenty("handshakes");
    await ledger.expectDelivered(published, { each: true, ms: 100_000 });
    expect(slow).toBeGreaterThan(0);
  });

  it("answers 410 for a minute has its endpoint disabled, and gets every snapshot once it is enabled", async () => {
    const tenantId = "gone";
    await using receiver = await openLedgerReceiver();
    receiver.answerWith(status(410));
    const endpointId = await stack.createEndpoint(tenantId, receiver.url);
    using endpoints = openRpcClient(EndpointService, { target: stack.deliveries[0]!.teamsTarget });
    const disablement = async () =>
      (await endpoints.getEndpoint({ tenantId, endpointId }, as("admin"))).endpoint?.disablement?.reason;
    const run = new PublishingRun(stack.editor);
    const documents = await run.create(tenantId, 3);
    await run.advance(documents.slice(0, 1), 1);
    await vi.waitUntil(() => receiver.ledger.posts.length > 0, { timeout: 20_000 });
    expect(await disablement()).toBeUndefined();
    // The docs promise a minute between the two answers.
    await pause(61_000);
    await run.advance(documents.slice(1, 2), 1);
    await vi.waitFor(async () => expect(await disablement()).toBe("gone"), { timeout: 30_000, interval: 200 });
    const before = receiver.ledger.posts.length;
    await run.advance(documents, 2);
    await stack.untilSettled();
    expect(receiver.ledger.posts).toHaveLength(before);
    receiver.answerWith(accept);
    await endpoints.enableEndpoint({ tenantId, endpointId }, as("admin"));
    await receiver.ledger.expectDelivered(run.published, { each: true });
  });
});
