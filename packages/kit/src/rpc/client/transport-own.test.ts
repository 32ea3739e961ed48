import { Code, createClient, type Interceptor } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { describe, expect, test } from "vitest";
import { createGrpcTransport } from "./grpc-transport.ts";
import { failure, mesh, opened, overGrpcJs, phrase, piece, serve, untilCancelled } from "../testing/doors.ts";
import { doors, limit, numberIn, teams } from "../testing/doors.ts";
import { answerRaw } from "../testing/raw-server.ts";

async function* none() {}

describe("our client", () => {
  test("takes a DNS name as its target", async () => {
    const { port } = await serve(mesh, { upsertPhrase: () => phrase(1) });
    const client = createClient(PhraseService, opened(createGrpcTransport({ target: `dns:///localhost:${port}` })));
    expect(numberIn((await client.upsertPhrase({})).phraseJson)).toBe(1);
  });

  test.each(doors)("gives bytes in an answer of the $name door as a Uint8Array, not as a Buffer", async (door) => {
    const { port } = await serve(door, { upsertPhrase: () => ({ phraseJson: new Uint8Array(limit - 1024) }) });
    const { phraseJson } = await createClient(PhraseService, opened(overGrpcJs(port))).upsertPhrase({});
    expect(Object.getPrototypeOf(phraseJson)).toBe(Uint8Array.prototype);
  });

  test("fails a stream whose status is an error and whose status details claim success", async () => {
    const port = await answerRaw((stream) => {
      const status = { "grpc-status": "5", "grpc-message": "gone", "grpc-status-details-bin": "" };
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto", ...status }, { endStream: true });
    });
    const messages = createClient(PhraseService, opened(overGrpcJs(port))).listPhrases({});
    expect((await failure(messages[Symbol.asyncIterator]().next())).rawMessage).toBe("gone");
  });

  test("fails a call that is answered with success and no message", async () => {
    const port = await answerRaw((stream) => {
      const headers = { ":status": 200, "content-type": "application/grpc+proto", "grpc-status": "0" };
      stream.respond(headers, { endStream: true });
    });
    const client = createClient(PhraseService, opened(overGrpcJs(port)));
    expect((await failure(client.upsertPhrase({}))).code).toBe(Code.Unimplemented);
  });

  test("fails a call that is answered with malformed bytes", async () => {
    const port = await answerRaw((stream) => {
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
      stream.end(Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x7f]));
    });
    const client = createClient(PhraseService, opened(overGrpcJs(port)));
    expect((await failure(client.upsertPhrase({}))).code).toBe(Code.Internal);
    expect((await failure(collect(client.listPhrases({})))).code).toBe(Code.Internal);
  });

  test("fails the first read of a stream whose deadline has passed before the read", async () => {
    const { port } = await serve(mesh, {
      async *listPhrases(_, context) {
        yield piece(1);
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
    const method = PhraseService.method.listPhrases;
    const { message } = await transport.stream(method, undefined, 100, undefined, request);
    await ended.promise;
    await new Promise(setImmediate);
    expect((await failure(message[Symbol.asyncIterator]().next())).code).toBe(Code.DeadlineExceeded);
  });

  test("ignores the headers `grpc-timeout` and `content-type` of a caller", async () => {
    const seen: unknown[] = [];
    const { port } = await serve(teams, {
      upsertPhrase: (_, context) => {
        seen.push({ timeoutMs: context.timeoutMs(), type: context.requestHeader.get("content-type") });
        return {};
      },
    });
    const headers = { "Grpc-Timeout": "1n", "content-type": "text/plain", "grpc-encoding": "gzip", te: "gzip" };
    for (const form of [headers, new Headers(headers)]) {
      await createClient(PhraseService, opened(overGrpcJs(port))).upsertPhrase({}, { headers: form, timeoutMs: 0 });
    }
    const untouched = { timeoutMs: undefined, type: "application/grpc" };
    expect(seen).toEqual([untouched, untouched]);
  });

  test.each([
    { what: "a record", headers: { "vidimus-actor": "Jürgen" } },
    { what: "Headers", headers: new Headers({ "vidimus-actor": "Jürgen" }) },
  ])("refuses metadata that is not ASCII, given as $what, as InvalidArgument", async ({ headers }) => {
    const { port } = await serve(mesh, { upsertPhrase: () => phrase(1) });
    const client = createClient(PhraseService, opened(overGrpcJs(port)));
    const error = await failure(client.upsertPhrase({}, { headers }));
    expect([error.code, error.rawMessage]).toEqual([
      Code.InvalidArgument,
      'the metadata "vidimus-actor" must be printable ASCII',
    ]);
  });

  test("refuses calls with a stream of requests as Unimplemented", async () => {
    const client = createClient(ServerReflection, opened(overGrpcJs(1)));
    const answers = client.serverReflectionInfo(none())[Symbol.asyncIterator]();
    expect((await failure(answers.next())).code).toBe(Code.Unimplemented);
  });

  test("once closed, refuses new calls and lets the call in flight end", async () => {
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { port } = await serve(mesh, {
      upsertPhrase: async () => {
        entered.resolve();
        await gate.promise;
        return phrase(1);
      },
    });
    const transport = overGrpcJs(port);
    const client = createClient(PhraseService, transport);
    const running = client.upsertPhrase({});
    await entered.promise;
    transport.close();
    expect((await failure(client.upsertPhrase({}))).code).toBe(Code.Unavailable);
    gate.resolve();
    expect(numberIn((await running).phraseJson)).toBe(1);
  });
});

async function collect(messages: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const message of messages) all.push(message);
  return all;
}
