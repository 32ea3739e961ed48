import { Code, ConnectError, createClient, type ServiceImpl } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@vidimus/contracts/grpc/health/v1/health";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { connect } from "node:net";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import pino from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { DomainError } from "../errors.ts";
import { createMetrics } from "../metrics.ts";
import { Readiness } from "../readiness.ts";
import { callContext } from "./call-context.ts";
import { fromConnectError } from "./error-table.ts";
import { createGrpcTransport as createOwnTransport } from "./grpc-transport.ts";
import { route, type RpcServer, startRpcServer } from "./server.ts";

type Implementation = Partial<ServiceImpl<typeof EndpointService>>;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

async function serve(implementation: Implementation, options: { drainMs?: number; defaultTimeoutMs?: number } = {}) {
  const lines: Record<string, unknown>[] = [];
  const sink = new PassThrough();
  sink.on("data", (chunk: Buffer) =>
    lines.push(
      ...chunk
        .toString()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ),
  );
  const readiness = new Readiness();
  const server: RpcServer = await startRpcServer({
    routes: [route(EndpointService, implementation as ServiceImpl<typeof EndpointService>)],
    host: "127.0.0.1",
    port: 0,
    readiness,
    log: pino(sink),
    metrics: createMetrics("test"),
    drainMs: 200,
    ...options,
  });
  opened.push(server);
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return { server, readiness, lines, baseUrl, transport: createGrpcTransport({ baseUrl }) };
}

const failure = async (call: Promise<unknown>) =>
  ConnectError.from(
    await call.then(
      () => "no error",
      (error: unknown) => error,
    ),
  );

describe("the RPC server", () => {
  it.each([
    ["gRPC", createGrpcTransport],
    ["gRPC-Web", createGrpcWebTransport],
    ["Connect", createConnectTransport],
  ] as const)("answers %s on its one port", async (_name, createTransport) => {
    const { baseUrl } = await serve({ listEndpoints: ({ tenantId }) => ({ endpoints: [{ tenantId }] }) });
    const client = createClient(EndpointService, createTransport({ baseUrl, httpVersion: "2" }));
    const { endpoints } = await client.listEndpoints({ tenantId: "demo" });
    expect(endpoints.map(({ tenantId }) => tenantId)).toEqual(["demo"]);
  });

  it("carries an expected failure with its kind, message and violations", async () => {
    const { transport } = await serve({
      listEndpoints: () => {
        throw new DomainError("already_exists", "taken", { violations: [{ pointer: "/id", message: "is used" }] });
      },
    });
    const error = await failure(createClient(EndpointService, transport).listEndpoints({}));
    expect(error.code).toBe(Code.AlreadyExists);
    expect(error.rawMessage).toBe("taken");
    expect(fromConnectError(error)).toMatchObject({
      kind: "already_exists",
      violations: [{ pointer: "/id", message: "is used" }],
    });
  });

  it("shows a bug as internal error, and logs it once with its cause", async () => {
    const { transport, lines } = await serve({
      listEndpoints: () => {
        throw new TypeError("the secret is 42");
      },
    });
    const error = await failure(createClient(EndpointService, transport).listEndpoints({ tenantId: "demo" }));
    expect([error.code, error.rawMessage]).toEqual([Code.Internal, "internal error"]);
    expect(lines.filter(({ err }) => err !== undefined)).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      method: "vidimus.delivery.v1.EndpointService/ListEndpoints",
      code: "Internal",
      tenant: "demo",
    });
    expect(JSON.stringify(lines[0]!["err"])).toContain("the secret is 42");
  });

  it("gives a deadline to a caller that brings none, and answers at it although the handler does not listen", async () => {
    const { promise: never } = Promise.withResolvers<never>();
    const { transport } = await serve({ listEndpoints: () => never }, { defaultTimeoutMs: 50 });
    const error = await failure(createClient(EndpointService, transport).listEndpoints({}));
    expect(error.code).toBe(Code.DeadlineExceeded);
  });

  it("lets a caller's own deadline be later than that, and answers at it all the same", async () => {
    const { promise: never } = Promise.withResolvers<never>();
    const answering: Implementation = {
      listEndpoints: async ({ tenantId }) => {
        if (tenantId === "never") return never;
        await new Promise((resolve) => setTimeout(resolve, 150));
        return { endpoints: [{ tenantId }] };
      },
    };
    const { transport } = await serve(answering, { defaultTimeoutMs: 50 });
    const client = createClient(EndpointService, transport);
    expect((await client.listEndpoints({ tenantId: "late" }, { timeoutMs: 5_000 })).endpoints).toHaveLength(1);
    const error = await failure(client.listEndpoints({ tenantId: "never" }, { timeoutMs: 250 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
  });

  it("hands on who calls, and makes an id where none came", async () => {
    const seen: unknown[] = [];
    const { transport } = await serve({
      listEndpoints: (_request, context) => {
        seen.push(callContext(context));
        return {};
      },
    });
    const client = createClient(EndpointService, transport);
    await client.listEndpoints(
      {},
      { headers: { "x-request-id": "r-1", "vidimus-actor": "ida", "vidimus-role": "editor" } },
    );
    await client.listEndpoints({}, { headers: { "x-request-id": "no good\u00a0id" } });
    expect(seen[0]).toMatchObject({ requestId: "r-1", actor: "ida", role: "editor" });
    expect(seen[1]).toMatchObject({ requestId: expect.stringMatching(/^[0-9a-f-]{36}$/), actor: "", role: "" });
  });

  it("refuses a message of more than 16 MiB", async () => {
    const { server } = await serve({ listEndpoints: () => ({}) });
    // The sender's own limit is raised, so that it is the server that refuses.
    const transport = createOwnTransport({
      target: `dns:///127.0.0.1:${server.port}`,
      messageBytesMax: 32 * 1024 * 1024,
    });
    const client = createClient(EndpointService, transport);
    const error = await failure(client.listEndpoints({ tenantId: "x".repeat(16 * 1024 * 1024 + 1) }));
    transport.close();
    expect(error.code).toBe(Code.ResourceExhausted);
  });

  it("answers health for the process and each service, and follows a drain", async () => {
    const { transport, readiness } = await serve({});
    const health = createClient(Health, transport);
    for (const service of ["", EndpointService.typeName]) {
      expect((await health.check({ service })).status).toBe(Status.SERVING);
    }
    expect((await failure(health.check({ service: "no.such" }))).code).toBe(Code.NotFound);
    const seen: Status[] = [];
    for await (const { status } of health.watch({})) {
      seen.push(status);
      if (seen.length === 2) break;
      readiness.drain();
    }
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
  });

  it("describes its services by reflection", async () => {
    const { transport } = await serve({});
    const client = createClient(ServerReflection, transport);
    const ask = async function* () {
      yield { messageRequest: { case: "listServices", value: "*" } } as const;
      yield { messageRequest: { case: "fileContainingSymbol", value: EndpointService.typeName } } as const;
      yield { messageRequest: { case: "fileContainingSymbol", value: "no.such" } } as const;
    };
    const answers = [];
    for await (const { messageResponse } of client.serverReflectionInfo(ask())) answers.push(messageResponse);
    const names = answers[0]?.case === "listServicesResponse" ? answers[0].value.service.map(({ name }) => name) : [];
    expect(names).toEqual([EndpointService.typeName, Health.typeName, ServerReflection.typeName]);
    expect(
      answers[1]?.case === "fileDescriptorResponse" && answers[1].value.fileDescriptorProto.length,
    ).toBeGreaterThan(1);
    expect(answers[2]?.case).toBe("errorResponse");
  });

  it("stops although a silent TCP connection stays open", async () => {
    const { server } = await serve({}, { drainMs: 50 });
    const socket = connect({ host: "127.0.0.1", port: server.port });
    await once(socket, "connect");
    const closed = once(socket.resume(), "close");
    await server[Symbol.asyncDispose]();
    await closed;
  });

  it("answers a call that outlives the drain with UNAVAILABLE", async () => {
    const started = Promise.withResolvers<void>();
    const { promise: never } = Promise.withResolvers<never>();
    const listEndpoints = () => {
      started.resolve();
      return never;
    };
    const { server, transport } = await serve({ listEndpoints }, { drainMs: 50 });
    const call = failure(createClient(EndpointService, transport).listEndpoints({}));
    await started.promise;
    await server[Symbol.asyncDispose]();
    expect((await call).code).toBe(Code.Unavailable);
  });

  it("leaves nothing behind that keeps the process alive", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const { server } = await serve({});
    await server[Symbol.asyncDispose]();
    expect(timers()).toBe(before);
  });

  it("lets a running call finish when it stops", async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const { server, transport } = await serve(
      {
        listEndpoints: async () => {
          started.resolve();
          await finish.promise;
          return { endpoints: [{ endpointId: "done" }] };
        },
      },
      { drainMs: 5_000 },
    );
    const call = createClient(EndpointService, transport).listEndpoints({});
    await started.promise;
    const stopped = server[Symbol.asyncDispose]();
    finish.resolve();
    expect((await call).endpoints[0]?.endpointId).toBe("done");
    await stopped;
  });

  it("does not bind another address than loopback without certificates", async () => {
    const options = {
      routes: [],
      port: 0,
      readiness: new Readiness(),
      log: pino({ level: "silent" }),
      metrics: createMetrics("t"),
    };
    await expect(startRpcServer({ ...options, host: "0.0.0.0" })).rejects.toThrow("loopback addresses only");
  });
});
