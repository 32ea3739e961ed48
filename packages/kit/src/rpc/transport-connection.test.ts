import { Code, createClient, type Interceptor } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { describe, expect, test, vi } from "vitest";
import { createGrpcTransport } from "./grpc-transport.ts";
import { answer, failure, listen, mib, opened, overGrpcJs, serveHealth } from "./testing/transport-servers.ts";
import { serveSnapshots, snapshotRequest, transports, untilCancelled } from "./testing/transport-servers.ts";

/** connect-node loses calls here, which is why there is a transport of our own. */
describe("sessions that close over grpc-js", () => {
  test("32 callers lose no call to GOAWAY", async () => {
    const server = await serveHealth({ check: () => answer(1) });
    const client = createClient(Health, opened(overGrpcJs(server.port)));
    let calls = 0;
    const loop = async () => {
      while (calls < 2_000) {
        if ((calls += 1) % 50 === 0) server.drainSessions();
        await client.check({});
      }
    };
    await Promise.all(Array.from({ length: 32 }, loop));
    expect(calls).toBeGreaterThanOrEqual(2_000);
  });

  test("requests of 2 MiB are not lost to GOAWAY either", async () => {
    const server = await serveSnapshots();
    const client = createClient(SnapshotFeedService, opened(overGrpcJs(server.port)));
    const request = snapshotRequest(2 * mib, 1);
    let calls = 0;
    const loop = async () => {
      while (calls < 160) {
        if ((calls += 1) % 10 === 0) server.drainSessions();
        await client.getSnapshots(request);
      }
    };
    await Promise.all(Array.from({ length: 4 }, loop));
    expect(calls).toBeGreaterThanOrEqual(160);
  });
});

describe.each(transports)("connection over $name", ({ ours, open }) => {
  const health = (port: number) => createClient(Health, opened(open(port)));

  test("a target where nobody listens is Unavailable before the deadline", async () => {
    const server = await serveHealth({});
    await server.kill();
    expect((await failure(health(server.port).check({}, { timeoutMs: 5_000 }))).code).toBe(Code.Unavailable);
  });

  test("a server restarted on its port eight times is found again each time, all within 5 s", async () => {
    let server = await serveHealth({ check: () => answer(0) });
    const client = health(server.port);
    expect((await client.check({})).status).toBe(0);
    const until = Date.now() + 5_000;
    for (let round = 1; round <= 8; round += 1) {
      await server.kill();
      expect((await failure(client.check({}))).code).toBe(Code.Unavailable);
      server = await serveHealth({ check: () => answer(round) }, server.port);
      const answers = async () => expect((await client.check({})).status).toBe(round);
      await vi.waitFor(answers, { timeout: until - Date.now(), interval: 10 });
    }
  }, 10_000);

  test("a server killed in the middle ends the stream with an error that says so", async () => {
    const server = await serveHealth({
      async *watch(_, context) {
        yield answer(1);
        await untilCancelled(context);
      },
    });
    const got: number[] = [];
    const read = async () => {
      for await (const { status } of health(server.port).watch({}, { timeoutMs: 0 })) {
        got.push(status);
        await server.kill();
      }
    };
    const { code } = await failure(read());
    expect(got).toEqual([1]);
    expect(ours ? [Code.Unavailable] : [Code.Unavailable, Code.Aborted, Code.Internal, Code.Canceled]).toContain(code);
  });
});

async function* none() {}

describe("only over grpc-js", () => {
  test("calls go round all three servers of a target", async () => {
    const servers = await Promise.all([1, 2, 3].map((status) => serveHealth({ check: () => answer(status) })));
    const target = `ipv4:${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
    const client = createClient(Health, opened(createGrpcTransport({ target })));
    const counts = new Map<number, number>();
    const call = async () => {
      const { status } = await client.check({});
      counts.set(status, (counts.get(status) ?? 0) + 1);
    };
    await vi.waitFor(() => call().then(() => expect(counts.size).toBe(3)), { interval: 1, timeout: 5_000 });
    counts.clear();
    for (let calls = 0; calls < 30; calls += 1) await call();
    expect([...counts.values()]).toEqual([10, 10, 10]);
  });

  test("a DNS name works as a target", async () => {
    const { port } = await serveHealth({ check: () => answer(1) });
    const client = createClient(Health, opened(createGrpcTransport({ target: `dns:///localhost:${port}` })));
    expect((await client.check({})).status).toBe(1);
  });

  test("a failed stream whose details claim success still fails", async () => {
    const server = createServer();
    server.on("stream", (stream: ServerHttp2Stream) => {
      const status = { "grpc-status": "5", "grpc-message": "gone", "grpc-status-details-bin": "" };
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto", ...status }, { endStream: true });
    });
    const { port } = await listen(server);
    const messages = createClient(Health, opened(overGrpcJs(port))).watch({});
    expect((await failure(messages[Symbol.asyncIterator]().next())).rawMessage).toBe("gone");
  });

  test("a stream that fails before anybody reads it fails when it is read", async () => {
    const { port } = await serveHealth({
      async *watch(_, context) {
        yield answer(1);
        await untilCancelled(context);
      },
    });
    const ended = Promise.withResolvers<unknown>();
    const interceptor: Interceptor = (next) => (req) => {
      req.signal.addEventListener("abort", ended.resolve);
      return next(req);
    };
    const transport = opened(overGrpcJs(port, { interceptors: [interceptor] }));
    const request = createAsyncIterable([{}]);
    const { message } = await transport.stream(Health.method.watch, undefined, 100, undefined, request);
    await ended.promise;
    await new Promise(setImmediate);
    expect((await failure(message[Symbol.asyncIterator]().next())).code).toBe(Code.DeadlineExceeded);
  });

  test("a relayed header cannot set the deadline or the content type", async () => {
    const deadlines: unknown[] = [];
    const { port } = await serveHealth({
      check: (_, context) => {
        deadlines.push(context.timeoutMs());
        return {};
      },
    });
    const headers = { "grpc-timeout": "1n", "content-type": "text/plain", "grpc-encoding": "gzip", te: "gzip" };
    await createClient(Health, opened(overGrpcJs(port))).check({}, { headers, timeoutMs: 0 });
    expect(deadlines).toEqual([undefined]);
  });

  test("calls with a stream of requests are Unimplemented", async () => {
    const client = createClient(ServerReflection, opened(overGrpcJs(1)));
    const answers = client.serverReflectionInfo(none())[Symbol.asyncIterator]();
    expect((await failure(answers.next())).code).toBe(Code.Unimplemented);
  });

  test("close lets the call in flight end and refuses the next", async () => {
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { port } = await serveHealth({
      check: async () => {
        entered.resolve();
        await gate.promise;
        return answer(1);
      },
    });
    const transport = overGrpcJs(port);
    const client = createClient(Health, transport);
    const running = client.check({});
    await entered.promise;
    transport.close();
    expect((await failure(client.check({}))).code).toBe(Code.Unavailable);
    gate.resolve();
    expect((await running).status).toBe(1);
  });
});
