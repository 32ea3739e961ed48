import { Code, createClient } from "@connectrpc/connect";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { aroundEach, describe, expect, test, vi } from "vitest";
import { createGrpcTransport } from "./grpc-transport.ts";
import { doors, failure, mib, numberIn, opened, overGrpcJs, pairs, phrase, piece } from "../testing/doors.ts";
import { knowTest, serve, untilCancelled } from "../testing/doors.ts";
import { openTcpProxy } from "../testing/tcp-proxy.ts";

aroundEach(knowTest);

/**
 * For tests that load a door: those of one door run one after another, while the other door is
 * tested at the same time. If all ran together, each would make half the calls.
 */
const inTurn = { concurrent: false };
const connectOurs = (port: number) => createClient(PhraseService, opened(overGrpcJs(port)));

/**
 * connect-node loses calls when a server closes connections (ADR 0002), which is why there is a
 * transport of our own.
 */
describe.concurrent.each(doors)("our client at the $name door", (door) => {
  // grpc-js repeats a refused call once, so connections must live long enough for the second
  // attempt.
  test.each([
    { what: "calls", callers: 32, bytes: 0 },
    { what: "requests of 2 MiB", callers: 4, bytes: 2 * mib },
  ])("loses no $what although each connection gets GOAWAY after 200 ms", inTurn, async ({ callers, bytes }) => {
    const { port } = await serve(door, { upsertPhrase: () => phrase(1) }, { sessionAgeMs: 200 });
    const client = connectOurs(port);
    const request = { phraseJson: new Uint8Array(bytes) };
    const until = performance.now() + 2_000;
    let calls = 0;
    const loop = async () => {
      for (; performance.now() < until; calls += 1) await client.upsertPhrase(request);
    };
    await Promise.all(Array.from({ length: callers }, loop));
    expect(calls).toBeGreaterThan(callers);
  });

  test(
    "loses no call of 16 callers during a rolling restart of two servers",
    { ...inTurn, timeout: 20_000 },
    async () => {
      const start = async (port = 0) => {
        const used = Promise.withResolvers<void>();
        const upsertPhrase = () => (used.resolve(), phrase(1));
        return { ...(await serve(door, { upsertPhrase }, { port, drainMs: 5_000 })), used: used.promise };
      };
      const servers = [await start(), await start()];
      const target = `ipv4:${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
      const client = createClient(PhraseService, opened(createGrpcTransport({ target })));
      let calls = 0;
      const done = new AbortController();
      const loop = async () => {
        for (; !done.signal.aborted; calls += 1) await client.upsertPhrase({});
      };
      const load = Promise.all(Array.from({ length: 16 }, loop));
      const restartAll = async () => {
        for (let restart = 0; restart < 6; restart += 1) {
          const server = servers.shift()!;
          // Both servers must be in use, else a restart could not lose a call.
          await Promise.all([server, ...servers].map(({ used }) => used));
          await server.stop();
          servers.push(await start(server.port));
        }
        done.abort();
      };
      await Promise.all([restartAll(), load]);
      expect(calls).toBeGreaterThan(100);
    },
  );
});

// Runs at the same time as the tests above, because it waits.
describe.concurrent.each(doors)("our client at the $name door", (door) => {
  test("gets the answer to a call that outlives its connection's GOAWAY by seconds", async () => {
    const gate = Promise.withResolvers<void>();
    const upsertPhrase = () => gate.promise.then(() => phrase(1));
    const { port } = await serve(door, { upsertPhrase }, { sessionAgeMs: 100 });
    const call = connectOurs(port).upsertPhrase({});
    // The call lasts beyond the client's first keepalive ping, which comes after 2 s.
    setTimeout(gate.resolve, 2_500);
    expect(numberIn((await call).phraseJson)).toBe(1);
  });
});

describe.each(doors)("our client at the $name door", (door) => {
  test("calls the three servers of a target equally often", async () => {
    const servers = await Promise.all([1, 2, 3].map((value) => serve(door, { upsertPhrase: () => phrase(value) })));
    const target = `ipv4:${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
    const client = createClient(PhraseService, opened(createGrpcTransport({ target })));
    const counts = new Map<number, number>();
    const call = async () => {
      const value = numberIn((await client.upsertPhrase({})).phraseJson);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    };
    await vi.waitFor(() => call().then(() => expect(counts.size).toBe(3)), { interval: 1, timeout: 5_000 });
    counts.clear();
    for (let calls = 0; calls < 30; calls += 1) await call();
    expect([...counts.values()]).toEqual([10, 10, 10]);
  });
});

describe.each(pairs)("the connection of $name", ({ door, ours, connect }) => {
  test("to a port without a listener fails as Unavailable before the deadline", async () => {
    const { port, stop } = await serve(door, {});
    await stop();
    expect((await failure(connect(port).upsertPhrase({}, { timeoutMs: 5_000 }))).code).toBe(Code.Unavailable);
  });

  test("brings the answer of the call in flight at GOAWAY, and is replaced for later calls", async () => {
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const upsertPhrase = async () => {
      entered.resolve();
      await gate.promise;
      return phrase(1);
    };
    const { port, stop } = await serve(door, { upsertPhrase }, { drainMs: 5_000 });
    const client = connect(port);
    const call = client.upsertPhrase({});
    await entered.promise;
    const stopped = stop();
    gate.resolve();
    expect(numberIn((await call).phraseJson)).toBe(1);
    await stopped;
    await serve(door, { upsertPhrase: () => phrase(2) }, { port });
    const next = async () => expect(numberIn((await client.upsertPhrase({})).phraseJson)).toBe(2);
    await vi.waitFor(next, { interval: 10, timeout: 5_000 });
  });

  test("when cut in the middle of a stream, ends the stream with an error and cancels its handler", async () => {
    const left = Promise.withResolvers<void>();
    const { port } = await serve(door, {
      async *listPhrases(_, context) {
        yield piece(1);
        await untilCancelled(context).finally(left.resolve);
      },
    });
    const proxy = await openTcpProxy(port);
    const got: number[] = [];
    const read = async () => {
      for await (const { content } of connect(proxy.port).listPhrases({}, { timeoutMs: 0 })) {
        got.push(numberIn(content));
        await proxy.kill();
      }
    };
    const { code } = await failure(read());
    expect(got).toEqual([1]);
    expect(ours ? [Code.Unavailable] : [Code.Unavailable, Code.Aborted, Code.Internal, Code.Canceled]).toContain(code);
    await left.promise;
  });
});

// At the same time, because most of each restart is waiting for the next attempt to connect.
describe.concurrent.each(pairs)("the connection of $name", ({ door, connect }) => {
  test("finds a server again after each of eight restarts on its port, all within 5 s", async () => {
    let server = await serve(door, { upsertPhrase: () => phrase(0) });
    const client = connect(server.port);
    expect(numberIn((await client.upsertPhrase({})).phraseJson)).toBe(0);
    const until = Date.now() + 5_000;
    for (let round = 1; round <= 8; round += 1) {
      await server.stop();
      expect((await failure(client.upsertPhrase({}))).code).toBe(Code.Unavailable);
      server = await serve(door, { upsertPhrase: () => phrase(round) }, { port: server.port });
      const answers = async () => expect(numberIn((await client.upsertPhrase({})).phraseJson)).toBe(round);
      await vi.waitFor(answers, { timeout: until - Date.now(), interval: 10 });
    }
  }, 10_000);
});
