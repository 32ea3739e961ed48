import { Code, createClient, type HandlerContext } from "@connectrpc/connect";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { describe, expect, test, vi } from "vitest";
import { patient } from "../../testing/patient.ts";
import { DomainError } from "../../errors.ts";
import { createGrpcTransport } from "../client/grpc-transport.ts";
import { partialRoute } from "../doors/shared/route.ts";
import { failure, mesh, opened, phrase, serve } from "../testing/doors.ts";

/** A server that answers with its name; after `hang` it leaves its calls waiting until `goOn`. */
async function startServer(name: string) {
  let hung: PromiseWithResolvers<void> | undefined;
  let calls = 0;
  const tokens = new Set<string | null>();
  const answer = async <T>(value: T, { requestHeader }: HandlerContext): Promise<T> => {
    calls += 1;
    tokens.add(requestHeader.get("vidimus-prompt"));
    await hung?.promise;
    return value;
  };
  const phrases = { upsertPhrase: (_: unknown, context: HandlerContext) => answer(phrase(1), context) };
  const listKeys = (_: unknown, context: HandlerContext) => answer({ activeKeyId: name, keys: [] }, context);
  let transitions = 0;
  const transitionDocument = (_: unknown, context: HandlerContext) => {
    transitions += 1;
    return answer({}, context);
  };
  const routes = [
    partialRoute(DocumentService, { transitionDocument }),
    partialRoute(PhraseService, phrases),
    partialRoute(TrustListService, { listKeys }),
  ];
  const { port, stop } = await serve(mesh, {}, { routes });
  return {
    port,
    stop,
    tokens,
    calls: () => calls,
    transitions: () => transitions,
    hang: () => (hung = Promise.withResolvers()),
    goOn: () => (hung?.resolve(), (hung = undefined)),
  };
}

async function startServers(...names: string[]) {
  const servers = await Promise.all(names.map(startServer));
  const target = `ipv4:${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  const transport = opened(createGrpcTransport({ target }));
  const [keys, phrases] = [createClient(TrustListService, transport), createClient(PhraseService, transport)];
  // The client is connected to every server once each of them has answered.
  await vi.waitFor(async () => {
    await keys.listKeys({});
    expect(servers.every(({ calls }) => calls() > 0)).toBe(true);
  }, patient);
  return { servers, keys, phrases, documents: createClient(DocumentService, transport) };
}

/** Makes calls one after the other. Returns the duration of the longest. */
async function longestMs(count: number, call: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  for (let made = 0; made < count; made += 1) {
    const startedMs = performance.now();
    await call();
    longest = Math.max(longest, performance.now() - startedMs);
  }
  return longest;
}

describe("a server that hangs", () => {
  test("gets one more call, which another server answers within a second, and then no more", async () => {
    const { servers, keys, phrases } = await startServers("a", "b", "c");
    const [first] = servers;
    const before = first!.calls();
    first!.hang();
    expect(await longestMs(300, () => keys.listKeys({}))).toBeLessThan(1_000);
    expect(first!.calls() - before).toBe(1);
    // This method is not declared idempotent: it is sent once, and to a server that answers.
    expect(await longestMs(30, () => phrases.upsertPhrase({}))).toBeLessThan(1_000);
    expect(first!.calls() - before).toBe(1);
    first!.goOn();
  });

  test("gets calls again when it continues", async () => {
    const { servers, keys } = await startServers("a", "b");
    const [first] = servers;
    const before = first!.calls();
    first!.hang();
    await vi.waitFor(async () => {
      await keys.listKeys({});
      expect(first!.calls()).toBe(before + 1);
    }, patient);
    first!.goOn();
    await vi.waitFor(async () => {
      await keys.listKeys({});
      expect(first!.calls()).toBeGreaterThan(before + 2);
    }, patient);
  });

  test("makes a call fail with DEADLINE_EXCEEDED when there is no other server", async () => {
    const { servers, keys } = await startServers("a");
    servers[0]!.hang();
    expect((await failure(keys.listKeys({}, { timeoutMs: 300 }))).code).toBe(Code.DeadlineExceeded);
    expect(servers[0]!.calls()).toBe(2);
    servers[0]!.goOn();
  });

  test("and a second one that hangs delay calls by less than a second while a third one answers", async () => {
    const { servers, keys } = await startServers("a", "b", "c");
    servers[0]!.hang();
    servers[1]!.hang();
    expect(await longestMs(50, () => keys.listKeys({}))).toBeLessThan(1_000);
    servers[0]!.goOn();
    servers[1]!.goOn();
  });
});

describe("an idempotent call", () => {
  test("is made once while all servers are slow", async () => {
    const { servers, keys } = await startServers("a", "b");
    const total = () => servers.reduce((sum, { calls }) => sum + calls(), 0);
    for (const { hang } of servers) hang();
    const before = total();
    const slow = Promise.all([keys.listKeys({}), keys.listKeys({})]);
    await new Promise((resolve) => setTimeout(resolve, 400));
    for (const { goOn } of servers) goOn();
    await slow;
    expect(total() - before).toBe(2);
  });

  test("is made again at another server when its own stops", async () => {
    const { servers, keys } = await startServers("a", "b");
    servers[0]!.hang();
    const calls = Promise.all([keys.listKeys({}), keys.listKeys({})]);
    await servers[0]!.stop();
    expect((await calls).map(({ activeKeyId }) => activeKeyId)).toEqual(["b", "b"]);
  });

  test("is sent without the metadata `vidimus-prompt`, which is for the client's own balancer", async () => {
    const { servers } = await startServers("a", "b");
    for (const { tokens } of servers) expect(tokens).toEqual(new Set([null]));
  });
});

describe("a transition of a document, which would fail if it were made twice,", () => {
  /**
   * Sends a transition to each of two servers that hang. `sent` counts the transitions of each
   * server, `ends` tells how each of them ended.
   */
  async function sendOneToEach() {
    const { servers, keys, documents } = await startServers("a", "b");
    for (const { hang } of servers) hang();
    const sent = () => servers.map(({ transitions }) => transitions());
    const ends = [1, 2].map(() =>
      documents.transitionDocument({}).then(
        () => "answered",
        () => "failed",
      ),
    );
    await vi.waitFor(() => expect(sent()).toEqual([1, 1]), patient);
    const [first, second] = servers;
    return { first: first!, second: second!, keys, sent, ends: Promise.all(ends) };
  }

  test("is sent once though its server hangs and another one answers", async () => {
    const { first, second, keys, sent, ends } = await sendOneToEach();
    second.goOn();
    const before = first.calls();
    // One of these calls goes to the server that hangs, and is made again at the other one.
    await longestMs(20, () => keys.listKeys({}));
    expect(first.calls()).toBe(before + 1);
    expect(sent()).toEqual([1, 1]);
    first.goOn();
    expect(await ends).toEqual(["answered", "answered"]);
    expect(sent()).toEqual([1, 1]);
  });

  test("fails when its server stops, and is not sent to another one", async () => {
    const { first, second, sent, ends } = await sendOneToEach();
    await first.stop();
    second.goOn();
    expect((await ends).toSorted()).toEqual(["answered", "failed"]);
    expect(sent()).toEqual([1, 1]);
  });
});

test("an idempotent call is not repeated when a server refuses it", async () => {
  let calls = 0;
  const listKeys = () => {
    calls += 1;
    throw new DomainError("unavailable", "the database cannot be reached");
  };
  const routes = [partialRoute(TrustListService, { listKeys })];
  const servers = await Promise.all([1, 2].map(() => serve(mesh, {}, { routes })));
  const target = `ipv4:${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  const keys = createClient(TrustListService, opened(createGrpcTransport({ target })));
  const errors = await Promise.all(Array.from({ length: 10 }, () => failure(keys.listKeys({}))));
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set([Code.Unavailable]));
  expect(calls).toBe(10);
});
