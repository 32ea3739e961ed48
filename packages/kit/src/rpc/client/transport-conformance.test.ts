import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import type { Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { describe, expect, test, vi } from "vitest";
import { collect, failure, numberIn, pairs, phrase, piece, serve, untilCancelled } from "../testing/doors.ts";

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

describe.each(pairs)("with unary calls of $name,", ({ door, protocol, connect }) => {
  test("64 calls at once each get the answer to their own request", async () => {
    const { port } = await serve(door, { upsertPhrase: ({ phraseJson }) => ({ phraseJson }) });
    const client = connect(port);
    const wanted = Array.from({ length: 64 }, (_, index) => index);
    const answers = await Promise.all(wanted.map((value) => client.upsertPhrase(phrase(value))));
    expect(answers.map(({ phraseJson }) => numberIn(phraseJson))).toEqual(wanted);
  });

  test("interceptors add headers to requests", async () => {
    const { port } = await serve(door, {
      upsertPhrase: (_, { requestHeader }) => phrase(Number(requestHeader.get("x-n"))),
    });
    const interceptor: Interceptor = (next) => async (req) => {
      req.header.set("x-n", "41");
      return next(req);
    };
    const got = await connect(port, { interceptors: [interceptor] }).upsertPhrase({});
    expect(numberIn(got.phraseJson)).toBe(41);
  });

  test("interceptors see the method, its URL and the answer", async () => {
    const { port } = await serve(door, { upsertPhrase: () => phrase(1) });
    const seen: unknown[] = [];
    const interceptor: Interceptor = (next) => async (req) => {
      const res = await next(req);
      seen.push(req.method.name, new URL(req.url).port, new URL(req.url).pathname, res.message);
      return res;
    };
    const got = await connect(port, { interceptors: [interceptor] }).upsertPhrase({});
    expect(seen).toEqual(["UpsertPhrase", String(port), "/vidimus.phrases.v1.PhraseService/UpsertPhrase", got]);
  });

  test.each([
    { from: "the call", settings: {}, call: { timeoutMs: 150 } },
    { from: "the transport", settings: { defaultTimeoutMs: 150 }, call: {} },
  ])("a deadline from $from reaches the server and ends the call", async ({ settings, call }) => {
    const cancelled = Promise.withResolvers<number | undefined>();
    const { port } = await serve(door, {
      upsertPhrase: async (_, context) => {
        const left = context.timeoutMs();
        return untilCancelled(context).finally(() => cancelled.resolve(left));
      },
    });
    const error = await failure(connect(port, settings).upsertPhrase({}, call));
    expect(error.code).toBe(Code.DeadlineExceeded);
    expect(await cancelled.promise).toBeLessThanOrEqual(150);
  });

  test("an abort ends the call as Canceled and cancels its handler", async () => {
    const entered = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { port } = await serve(door, {
      upsertPhrase: async (_, context) => {
        entered.resolve();
        return untilCancelled(context).finally(left.resolve);
      },
    });
    const controller = new AbortController();
    const outcome = failure(connect(port).upsertPhrase({}, { signal: controller.signal, timeoutMs: 0 }));
    await entered.promise;
    controller.abort();
    expect((await outcome).code).toBe(Code.Canceled);
    await left.promise;
  });

  test("a call with an aborted signal fails as Canceled, and gRPC clients do not send it", async () => {
    const upsertPhrase = vi.fn(() => ({}));
    const { port } = await serve(door, { upsertPhrase });
    const client = connect(port);
    expect((await failure(client.upsertPhrase({}, { signal: AbortSignal.abort() }))).code).toBe(Code.Canceled);
    await client.upsertPhrase({});
    // connect-node's Connect client sends the call anyway.
    expect(upsertPhrase).toHaveBeenCalledTimes(protocol === "gRPC" ? 1 : 2);
  });

  test("a call whose signal has aborted with an RPC error fails with that error", async () => {
    const { port } = await serve(door, { upsertPhrase: (_, context) => untilCancelled(context) });
    const signal = AbortSignal.abort(new ConnectError("enough", Code.Aborted));
    const error = await failure(connect(port).upsertPhrase({}, { signal }));
    expect([error.code, error.rawMessage]).toEqual([Code.Aborted, "enough"]);
  });

  test("an error keeps code, message, metadata and details", async () => {
    const { port } = await serve(door, { upsertPhrase: () => Promise.reject(outOfRange()) });
    expectOutOfRange(await failure(connect(port).upsertPhrase({})));
  });

  test("request headers, plain and binary, and an answer's header and binary trailer arrive unchanged", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const { port } = await serve(door, {
      upsertPhrase: (_, { requestHeader, responseHeader, responseTrailer }) => {
        responseHeader.set("x-echo", requestHeader.get("x-ask") ?? "");
        responseTrailer.set("x-echo-bin", requestHeader.get("x-ask-bin") ?? "");
        return {};
      },
    });
    const headers = { "x-ask": "plain, two", "x-ask-bin": encodeBinaryHeader(bytes) };
    for (const form of [headers, new Headers(headers), Object.entries(headers)]) {
      const [onHeader, onTrailer] = [vi.fn<(h: Headers) => void>(), vi.fn<(h: Headers) => void>()];
      await connect(port).upsertPhrase({}, { headers: form, onHeader, onTrailer });
      expect(onHeader.mock.calls[0]![0].get("x-echo")).toBe("plain, two");
      expect(decodeBinaryHeader(onTrailer.mock.calls[0]![0].get("x-echo-bin") ?? "")).toEqual(bytes);
    }
  });

  test("a method without an implementation is Unimplemented", async () => {
    const { port } = await serve(door, {});
    expect((await failure(connect(port).deletePhrase({}))).code).toBe(Code.Unimplemented);
  });
});

describe.each(pairs)("with server streams of $name,", ({ door, connect }) => {
  test("all messages arrive in order, between header and trailer, and the stream ends", async () => {
    const { port } = await serve(door, {
      async *listPhrases({ language }, { responseHeader, responseTrailer }) {
        responseHeader.set("x-language", language);
        for (let value = 0; value < 2_000; value += 1) yield piece(value);
        responseTrailer.set("x-sent", "2000");
      },
    });
    const got: unknown[] = [];
    const messages = connect(port).listPhrases(
      { language: "a" },
      {
        onHeader: (header) => got.push(header.get("x-language")),
        onTrailer: (trailer) => got.push(trailer.get("x-sent")),
      },
    );
    for await (const { content } of messages) got.push(numberIn(content));
    expect(got).toEqual(["a", ...Array.from({ length: 2_000 }, (_, index) => index), "2000"]);
  });

  test("an empty stream ends without an error", async () => {
    const { port } = await serve(door, { async *listPhrases() {} });
    expect(await collect(connect(port).listPhrases({}))).toEqual([]);
  });

  test("an error before the first message keeps code, message, metadata and details", async () => {
    const { port } = await serve(door, {
      // oxlint-disable-next-line eslint/require-yield
      async *listPhrases() {
        throw outOfRange();
      },
    });
    expectOutOfRange(await failure(collect(connect(port).listPhrases({}))));
  });

  test("an error after three messages keeps code, message, metadata and details", async () => {
    const seen = Promise.withResolvers<void>();
    const { port } = await serve(door, {
      async *listPhrases() {
        yield* [piece(1), piece(2), piece(3)];
        await seen.promise;
        throw outOfRange();
      },
    });
    const got: number[] = [];
    const read = async () => {
      for await (const { content } of connect(port).listPhrases({})) {
        if (got.push(numberIn(content)) === 3) seen.resolve();
      }
    };
    expectOutOfRange(await failure(read()));
    expect(got).toEqual([1, 2, 3]);
  });

  test.each([
    { name: "an abort", code: Code.Canceled, timeoutMs: 0 },
    { name: "a deadline", code: Code.DeadlineExceeded, timeoutMs: 300 },
  ])("$name in the middle ends the stream, on the server too", async ({ code, timeoutMs }) => {
    const left = Promise.withResolvers<void>();
    const { port } = await serve(door, {
      async *listPhrases(_, context) {
        yield piece(1);
        await untilCancelled(context).finally(left.resolve);
      },
    });
    const controller = new AbortController();
    const read = async () => {
      const messages = connect(port).listPhrases({}, { signal: controller.signal, timeoutMs });
      for await (const _ of messages) if (timeoutMs === 0) controller.abort();
    };
    expect((await failure(read())).code).toBe(code);
    await left.promise;
  });

  test("a reader that stops reading pauses its writer and no other call", async () => {
    const left = Promise.withResolvers<void>();
    let sent = 0;
    const { port } = await serve(door, {
      upsertPhrase: () => phrase(1),
      async *listPhrases() {
        try {
          for (; ; sent += 1) yield { content: new Uint8Array(1024 * 1024) };
        } finally {
          left.resolve();
        }
      },
    });
    const controller = new AbortController();
    const client = connect(port);
    const messages = client.listPhrases({}, { signal: controller.signal, timeoutMs: 0 });
    await messages[Symbol.asyncIterator]().next();
    for (let calls = 0; calls < 100; calls += 1) await client.upsertPhrase({}, { timeoutMs: 5_000 });
    expect(sent).toBeLessThan(64);
    controller.abort();
    await left.promise;
  });
});
