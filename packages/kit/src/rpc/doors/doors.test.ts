import { Code, createClient } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { once } from "node:events";
import { connect as connectHttp2, type Settings } from "node:http2";
import { connect as connectTcp } from "node:net";
import { aroundEach, describe, expect, it } from "vitest";
import { DomainError } from "../../errors.ts";
import { callContext } from "../context/call-context.ts";
import { fromConnectError } from "../errors/error-table.ts";
import { createGrpcTransport } from "../client/grpc-transport.ts";
import { cleanUp, collect, doors, failure, mib, numberIn, opened, overGrpcJs } from "../testing/doors.ts";
import { knowTest, phrase, type Phrases, piece, serve } from "../testing/doors.ts";
import { logLines } from "../testing/log-lines.ts";

aroundEach(knowTest);

const connect = (port: number) => createClient(PhraseService, opened(overGrpcJs(port)));
type Caller = ReturnType<typeof connect>;
const { promise: never } = Promise.withResolvers<never>();

describe.each(doors)("the $name door", (door) => {
  it("carries an expected failure with its kind, message and violations", async () => {
    const violations = [{ pointer: "/id", message: "is used" }];
    const upsertPhrase = () => Promise.reject(new DomainError("already_exists", "taken", { violations }));
    const { port } = await serve(door, { upsertPhrase });
    const error = await failure(connect(port).upsertPhrase({}));
    expect([error.code, error.rawMessage]).toEqual([Code.AlreadyExists, "taken"]);
    expect(fromConnectError(error)).toMatchObject({ kind: "already_exists", violations });
  });

  it("logs an expected failure at debug", async () => {
    const { log, lines } = logLines("debug");
    const { port } = await serve(
      door,
      { upsertPhrase: () => Promise.reject(new DomainError("already_exists", "taken")) },
      { log },
    );
    await failure(connect(port).upsertPhrase({}));
    expect(lines).toEqual([expect.objectContaining({ level: "debug", code: "already_exists" })]);
  });

  const bug = () => {
    throw new TypeError("the secret is 42");
  };
  const withBugs: Phrases = {
    upsertPhrase: bug,
    // oxlint-disable-next-line eslint/require-yield
    async *listPhrases() {
      bug();
    },
  };
  const calls = [
    { kind: "a unary call", method: "UpsertPhrase", call: async (client: Caller) => client.upsertPhrase({}) },
    { kind: "a stream", method: "ListPhrases", call: async (client: Caller) => collect(client.listPhrases({})) },
  ];

  it.each(calls)("answers a bug in the handler of $kind with `internal error`", async ({ call }) => {
    const { port } = await serve(door, withBugs);
    const error = await failure(call(connect(port)));
    expect([error.code, error.rawMessage]).toEqual([Code.Internal, "internal error"]);
  });

  it.each(calls)("logs a bug in the handler of $kind once, with its cause", async ({ method, call }) => {
    const { log, lines } = logLines("info");
    const { port } = await serve(door, withBugs, { log });
    await failure(call(connect(port)));
    const line = { level: "error", method: `vidimus.phrases.v1.PhraseService/${method}`, code: "internal" };
    expect(lines).toEqual([expect.objectContaining(line)]);
    expect(JSON.stringify(lines[0]!["err"])).toContain("the secret is 42");
  });

  it("logs a call at debug, with its tenant and request id", async () => {
    const { log, lines } = logLines("debug");
    const { port } = await serve(door, { upsertPhrase: () => ({}) }, { log });
    await connect(port).upsertPhrase({ tenantId: "demo" }, { headers: { "x-request-id": "r-1" } });
    expect(lines).toEqual([expect.objectContaining({ level: "debug", code: "ok", tenant: "demo", requestId: "r-1" })]);
  });

  it("counts each call by its method and code", async () => {
    const { port, metrics } = await serve(door, { upsertPhrase: () => ({}) });
    const client = connect(port);
    for (let call = 0; call < 2; call += 1) await client.upsertPhrase({});
    const method = "vidimus.phrases.v1.PhraseService/UpsertPhrase";
    expect(await metrics.registry.metrics()).toContain(
      `vidimus_rpc_handled_seconds_count{service="test",method="${method}",code="ok"} 2`,
    );
  });

  it("fails a call without a deadline at the default deadline, although its handler ignores the signal", async () => {
    const { port } = await serve(door, { upsertPhrase: () => never }, { defaultTimeoutMs: 50 });
    const error = await failure(connect(port).upsertPhrase({}, { timeoutMs: 0 }));
    expect([error.code, error.rawMessage]).toEqual([Code.DeadlineExceeded, "the deadline passed"]);
  });

  /** What a handler gets to know of a call with the given headers. */
  async function contextOf(headers: Record<string, string>): Promise<unknown> {
    let seen: unknown;
    const { port } = await serve(door, {
      upsertPhrase: (_request, context) => {
        seen = callContext(context);
        return {};
      },
    });
    await connect(port).upsertPhrase({}, { headers });
    return seen;
  }

  it("passes request id, actor and role on to handlers", async () => {
    const headers = { "x-request-id": "r-1", "vidimus-actor": "ida", "vidimus-role": "editor" };
    expect(await contextOf(headers)).toMatchObject({ requestId: "r-1", actor: "ida", role: "editor" });
    expect(await contextOf({})).toMatchObject({ actor: "", role: "" });
  });

  it("replaces a malformed request id", async () => {
    const requestId: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(await contextOf({ "x-request-id": "no good id" })).toMatchObject({ requestId });
  });

  it("aborts a handler's signal when the call has been answered", async () => {
    const held = Promise.withResolvers<AbortSignal>();
    const upsertPhrase = (_: unknown, { signal }: { signal: AbortSignal }) => {
      held.resolve(signal);
      return {};
    };
    const { port } = await serve(door, { upsertPhrase });
    await connect(port).upsertPhrase({});
    expect((await held.promise).aborted).toBe(true);
  });

  it("refuses a request of more than 16 MiB", async () => {
    const { port } = await serve(door, { upsertPhrase: () => ({}) });
    // The client's limit is raised, so that the server refuses.
    const transport = opened(createGrpcTransport({ target: `127.0.0.1:${port}`, messageBytesMax: 32 * mib }));
    const call = createClient(PhraseService, transport).upsertPhrase({ tenantId: "x".repeat(16 * mib + 1) });
    expect((await failure(call)).code).toBe(Code.ResourceExhausted);
  });

  it("answers health for the process and its service, and for no other service", async () => {
    const { port } = await serve(door, {});
    const health = createClient(Health, opened(overGrpcJs(port)));
    for (const service of ["", PhraseService.typeName]) {
      expect((await health.check({ service })).status).toBe(Status.SERVING);
    }
    expect((await failure(health.check({ service: "no.such" }))).code).toBe(Code.NotFound);
  });

  it("tells watchers of its health that it drains", async () => {
    const { port, readiness } = await serve(door, {});
    const health = createClient(Health, opened(overGrpcJs(port)));
    const seen: Status[] = [];
    for await (const { status } of health.watch({})) {
      seen.push(status);
      if (seen.length === 2) break;
      readiness.drain();
    }
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
  });

  it("has windows of 4 MiB for streams and connections", async () => {
    const { port } = await serve(door, {});
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    cleanUp(() => session.destroy());
    const windows = Promise.withResolvers<number>();
    session.on("remoteSettings", ({ initialWindowSize = 0 }: Settings) => {
      if (initialWindowSize > 65_535) windows.resolve(initialWindowSize);
    });
    expect(await windows.promise).toBe(4 * mib);
    await new Promise((resolve) => session.ping(resolve));
    expect(session.state.remoteWindowSize).toBe(4 * mib);
  });

  it("stops although a TCP connection has no HTTP/2 session, and closes that connection", async () => {
    const { port, stop } = await serve(door, {}, { drainMs: 50 });
    const socket = connectTcp({ host: "127.0.0.1", port });
    await once(socket, "connect");
    const closed = once(socket.resume(), "close");
    await stop();
    await closed;
  });

  it("answers UNAVAILABLE to a call that outlives the drain", async () => {
    const started = Promise.withResolvers<void>();
    const upsertPhrase = () => {
      started.resolve();
      return never;
    };
    const { port, stop } = await serve(door, { upsertPhrase }, { drainMs: 50 });
    const call = failure(connect(port).upsertPhrase({}));
    await started.promise;
    await stop();
    const { code, rawMessage } = await call;
    expect([code, rawMessage]).toEqual([Code.Unavailable, "the server is shutting down"]);
  });

  it("when stopped, lets a running call finish", async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const upsertPhrase = async () => {
      started.resolve();
      await finish.promise;
      return phrase(1);
    };
    const { port, stop } = await serve(door, { upsertPhrase }, { drainMs: 5_000 });
    const call = connect(port).upsertPhrase({});
    await started.promise;
    const stopped = stop();
    finish.resolve();
    expect(numberIn((await call).phraseJson)).toBe(1);
    await stopped;
  });

  it("leaves no timer that keeps the process running when it has stopped", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const { stop } = await serve(door, {});
    await stop();
    expect(timers()).toBe(before);
  });

  it("does not bind another address than loopback without certificates", async () => {
    await expect(serve(door, {}, { host: "0.0.0.0" })).rejects.toThrow("loopback addresses only");
  });
});

// These tests run at the same time, because they wait.
describe.concurrent.each(doors)("the $name door", (door) => {
  it("names the setting of its port when that port is taken", async () => {
    const { port } = await serve(door, {});
    await expect(serve(door, {}, { port })).rejects.toThrow(/_PORT: port \d+ of 127.0.0.1 is taken/);
  });

  it("keeps a connection that answers pings, also while that connection drains", async () => {
    const drained = Promise.withResolvers<void>();
    const { port } = await serve(
      door,
      {
        async *listPhrases() {
          yield piece(1);
          await drained.promise;
          yield piece(2);
        },
      },
      { pingMs: 250, sessionAgeMs: 1_000 },
    );
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    cleanUp(() => session.destroy());
    const headers = { ":path": `/${PhraseService.typeName}/ListPhrases`, "content-type": "application/grpc" };
    const stream = session.request({ ":method": "POST", te: "trailers", ...headers }).resume();
    stream.end(Buffer.alloc(5));
    const trailers = once(stream, "trailers");
    for (const _ of [1, 2, 3]) await once(session, "ping");
    await once(session, "goaway");
    await new Promise((resolve) => setTimeout(resolve, 600));
    drained.resolve();
    expect((await trailers)[0]).toMatchObject({ "grpc-status": "0" });
  });

  it("ends a call at its caller's deadline, not at the earlier default deadline", async () => {
    const upsertPhrase = async ({ tenantId }: { tenantId: string }) => {
      if (tenantId === "never") return never;
      await new Promise((resolve) => setTimeout(resolve, 150));
      return phrase(1);
    };
    const { port } = await serve(door, { upsertPhrase }, { defaultTimeoutMs: 50 });
    const client = connect(port);
    expect(numberIn((await client.upsertPhrase({}, { timeoutMs: 5_000 })).phraseJson)).toBe(1);
    const error = await failure(client.upsertPhrase({ tenantId: "never" }, { timeoutMs: 250 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
  });

  it("ends a connection, and not before it is about `sessionAgeMs` old", async () => {
    const { port } = await serve(door, {}, { sessionAgeMs: 300 });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    cleanUp(() => session.destroy());
    const startedMs = performance.now();
    await once(session, "close");
    // Each connection's age is up to a tenth longer or shorter (`trackConnections`).
    expect(performance.now() - startedMs).toBeGreaterThan(250);
  });
});
