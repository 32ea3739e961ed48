import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import type { Interceptor } from "@connectrpc/connect";
import { Health } from "@vidimus/contracts/grpc/health/v1/health";
import { SnapshotFeedService } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { describe, expect, test, vi } from "vitest";
import { answer, failure, limit, opened, serveHealth, serveSnapshots } from "./testing/transport-servers.ts";
import { type Settings, snapshotRequest, transports, untilCancelled } from "./testing/transport-servers.ts";

const outOfRange = () =>
  new ConnectError("größer als 100 %\nzweite Zeile", Code.OutOfRange, { "x-place": "page" }, [
    { desc: ErrorInfoSchema, value: { kind: "too_large", violations: [{ pointer: "/a", message: "long" }] } },
  ]);

function expectOutOfRange(error: ConnectError): void {
  expect(error.code).toBe(Code.OutOfRange);
  expect(error.rawMessage).toBe("größer als 100 %\nzweite Zeile");
  expect(error.metadata.get("x-place")).toBe("page");
  expect(error.findDetails(ErrorInfoSchema)).toEqual([
    create(ErrorInfoSchema, { kind: "too_large", violations: [{ pointer: "/a", message: "long" }] }),
  ]);
}

async function collect(messages: AsyncIterable<{ status: number }>, into: number[] = []): Promise<number[]> {
  for await (const { status } of messages) into.push(status);
  return into;
}

describe.each(transports)("$name", ({ ours, open }) => {
  const health = (port: number, settings?: Settings) => createClient(Health, opened(open(port, settings)));
  const feed = (port: number) => createClient(SnapshotFeedService, opened(open(port)));

  describe("unary", () => {
    test("64 callers at once each get the answer to their own request", async () => {
      const { port } = await serveHealth({ check: ({ service }) => answer(Number(service)) });
      const client = health(port);
      const wanted = Array.from({ length: 64 }, (_, index) => index);
      const answers = await Promise.all(wanted.map((service) => client.check({ service: String(service) })));
      expect(answers.map(({ status }) => status)).toEqual(wanted);
    });

    test("interceptors see the method and its URL, add headers, and see the answer", async () => {
      const { port } = await serveHealth({
        check: (_, { requestHeader }) => answer(Number(requestHeader.get("x-n"))),
      });
      const seen: unknown[] = [];
      const interceptor: Interceptor = (next) => async (req) => {
        req.header.set("x-n", "41");
        const res = await next(req);
        seen.push(req.method.name, new URL(req.url).port, new URL(req.url).pathname, res.message);
        return res;
      };
      const got = await health(port, { interceptors: [interceptor] }).check({});
      expect(seen).toEqual(["Check", String(port), "/grpc.health.v1.Health/Check", got]);
      expect(got.status).toBe(41);
    });

    test.each([
      { from: "the call", settings: {}, call: { timeoutMs: 150 } },
      { from: "the transport", settings: { defaultTimeoutMs: 150 }, call: {} },
    ])("a deadline from $from reaches the server and ends the call", async ({ settings, call }) => {
      const cancelled = Promise.withResolvers<number | undefined>();
      const { port } = await serveHealth({
        check: async (_, context) => {
          const left = context.timeoutMs();
          return untilCancelled(context).finally(() => cancelled.resolve(left));
        },
      });
      const error = await failure(health(port, settings).check({}, call));
      expect(error.code).toBe(Code.DeadlineExceeded);
      expect(await cancelled.promise).toBeLessThanOrEqual(150);
    });

    test("an abort ends the call as Canceled, on the server too", async () => {
      const entered = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      const { port } = await serveHealth({
        check: async (_, context) => {
          entered.resolve();
          return untilCancelled(context).finally(left.resolve);
        },
      });
      const controller = new AbortController();
      const outcome = failure(health(port).check({}, { signal: controller.signal, timeoutMs: 0 }));
      await entered.promise;
      controller.abort();
      expect((await outcome).code).toBe(Code.Canceled);
      await left.promise;
    });

    test("a call whose signal was aborted before never reaches the server", async () => {
      const check = vi.fn(() => ({}));
      const { port } = await serveHealth({ check });
      const client = health(port);
      expect((await failure(client.check({}, { signal: AbortSignal.abort() }))).code).toBe(Code.Canceled);
      await client.check({});
      expect(check).toHaveBeenCalledOnce();
    });

    test("an error keeps code, message, metadata and details", async () => {
      const { port } = await serveHealth({ check: () => Promise.reject(outOfRange()) });
      expectOutOfRange(await failure(health(port).check({})));
    });

    test("headers and trailers travel both ways, binary ones unchanged", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const { port } = await serveHealth({
        check: (_, { requestHeader, responseHeader, responseTrailer }) => {
          responseHeader.set("x-echo", requestHeader.get("x-ask") ?? "");
          responseTrailer.set("x-echo-bin", requestHeader.get("x-ask-bin") ?? "");
          return {};
        },
      });
      const headers = { "x-ask": "plain, two", "x-ask-bin": encodeBinaryHeader(bytes) };
      const [onHeader, onTrailer] = [vi.fn<(h: Headers) => void>(), vi.fn<(h: Headers) => void>()];
      await health(port).check({}, { headers, onHeader, onTrailer });
      expect(onHeader.mock.calls[0]![0].get("x-echo")).toBe("plain, two");
      expect(decodeBinaryHeader(onTrailer.mock.calls[0]![0].get("x-echo-bin") ?? "")).toEqual(bytes);
    });
  });

  describe("message size", () => {
    test("a little less than 16 MiB passes in both directions", async () => {
      const { port } = await serveSnapshots();
      const { snapshots } = await feed(port).getSnapshots(snapshotRequest(limit - 1024, limit - 1024));
      const { version, snapshotJson } = snapshots[0]!;
      expect([version, snapshotJson.length]).toEqual([BigInt(limit - 1024), limit - 1024]);
      expect(snapshotJson.every((byte) => byte === 7)).toBe(true);
      if (ours) expect(Object.getPrototypeOf(snapshotJson)).toBe(Uint8Array.prototype);
    });

    test.each([
      { what: "request", asked: limit, answered: 1 },
      { what: "answer", asked: 1, answered: limit },
    ])("a $what of more than 16 MiB is ResourceExhausted", async ({ asked, answered }) => {
      const { port } = await serveSnapshots();
      const client = feed(port);
      expect((await failure(client.getSnapshots(snapshotRequest(asked, answered)))).code).toBe(Code.ResourceExhausted);
      expect((await client.getSnapshots(snapshotRequest(1, 1))).snapshots).toHaveLength(1);
    });
  });

  describe("server stream", () => {
    test("all messages arrive in order, between header and trailer, and the stream ends", async () => {
      const { port } = await serveHealth({
        async *watch({ service }, { responseHeader, responseTrailer }) {
          responseHeader.set("x-service", service);
          for (let status = 0; status < 2_000; status += 1) yield answer(status);
          responseTrailer.set("x-sent", "2000");
        },
      });
      const got: unknown[] = [];
      const messages = health(port).watch(
        { service: "a" },
        {
          onHeader: (header) => got.push(header.get("x-service")),
          onTrailer: (trailer) => got.push(trailer.get("x-sent")),
        },
      );
      for await (const { status } of messages) got.push(status);
      expect(got).toEqual(["a", ...Array.from({ length: 2_000 }, (_, index) => index), "2000"]);
    });

    test("an empty stream ends without an error", async () => {
      const { port } = await serveHealth({ async *watch() {} });
      expect(await collect(health(port).watch({}))).toEqual([]);
    });

    test("an error before the first message keeps code, message, metadata and details", async () => {
      const { port } = await serveHealth({
        // oxlint-disable-next-line eslint/require-yield
        async *watch() {
          throw outOfRange();
        },
      });
      expectOutOfRange(await failure(collect(health(port).watch({}))));
    });

    test("an error in the middle comes after the messages before it", async () => {
      const seen = Promise.withResolvers<void>();
      const { port } = await serveHealth({
        async *watch() {
          yield* [answer(1), answer(2), answer(3)];
          await seen.promise;
          throw outOfRange();
        },
      });
      const got: number[] = [];
      const read = async () => {
        for await (const { status } of health(port).watch({})) if (got.push(status) === 3) seen.resolve();
      };
      expectOutOfRange(await failure(read()));
      expect(got).toEqual([1, 2, 3]);
    });

    test.each([
      { name: "an abort", code: Code.Canceled, timeoutMs: 0 },
      { name: "a deadline", code: Code.DeadlineExceeded, timeoutMs: 300 },
    ])("$name in the middle ends the stream, on the server too", async ({ code, timeoutMs }) => {
      const left = Promise.withResolvers<void>();
      const { port } = await serveHealth({
        async *watch(_, context) {
          yield { status: 1 };
          await untilCancelled(context).finally(left.resolve);
        },
      });
      const controller = new AbortController();
      const read = async () => {
        const messages = health(port).watch({}, { signal: controller.signal, timeoutMs });
        for await (const _ of messages) if (timeoutMs === 0) controller.abort();
      };
      expect((await failure(read())).code).toBe(code);
      await left.promise;
    });
  });
});
