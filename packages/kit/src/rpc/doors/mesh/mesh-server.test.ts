import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ServerReflection } from "@vidimus/contracts/grpc/reflection/v1/reflection";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { afterEach, describe, expect, it, vi } from "vitest";
import { reflectionService } from "../teams/reflection.ts";
import { route } from "../shared/route.ts";
import { failure, mesh, numberIn, opened, overGrpcJs, phrase, serve } from "../../testing/doors.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the mesh door", () => {
  it("and our client make no AbortController for a call, unless its handler asks for the signal", async () => {
    let made = 0;
    const Original = AbortController;
    const asks: boolean[] = [];
    const { port } = await serve(mesh, {
      upsertPhrase: (_, context) => {
        if (asks.shift()) context.signal.throwIfAborted();
        return phrase(1);
      },
    });
    const client = createClient(PhraseService, opened(overGrpcJs(port)));
    vi.stubGlobal(
      "AbortController",
      class extends Original {
        constructor() {
          super();
          made += 1;
        }
      },
    );
    const cost = async (asksForSignal: boolean) => {
      const before = made;
      asks.push(asksForSignal);
      await client.upsertPhrase({});
      return made - before;
    };
    const without = await cost(false);
    expect(without).toBe(0);
    expect(await cost(true)).toBe(1);
  });

  it("answers without the header, trailer and error metadata that gRPC cannot carry", async () => {
    const { port } = await serve(mesh, {
      upsertPhrase: (_, { responseHeader, responseTrailer }) => {
        responseHeader.set("x-name", "Jürgen");
        responseTrailer.set("x-name", "Jürgen");
        return phrase(1);
      },
      deletePhrase: () => Promise.reject(new ConnectError("no", Code.NotFound, { "x-name": "Jürgen", "x-n": "1" })),
    });
    const client = createClient(PhraseService, opened(overGrpcJs(port)));
    const sent: (string | null)[] = [];
    const note = (metadata: Headers) => void sent.push(metadata.get("x-name"));
    const options = { timeoutMs: 5_000, onHeader: note, onTrailer: note };
    expect(numberIn((await client.upsertPhrase({}, options)).phraseJson)).toBe(1);
    expect(sent).toEqual([null, null]);
    const error = await failure(client.deletePhrase({}, { timeoutMs: 5_000 }));
    expect([error.code, error.metadata.get("x-name"), error.metadata.get("x-n")]).toEqual([Code.NotFound, null, "1"]);
  });

  it("frees the bytes of a stream's message before it asks the handler for the next one", async () => {
    const freed: number[] = [];
    const freedBefore: number[][] = [];
    vi.spyOn(ArrayBuffer.prototype, "transfer").mockImplementation(function transfer(this: ArrayBuffer) {
      freed.push(this.byteLength);
      return this;
    });
    const { port } = await serve(mesh, {
      async *listPhrases() {
        for (const size of [100_000, 200_000, 300_000]) {
          freedBefore.push(freed.filter((bytes) => bytes >= 100_000));
          yield { content: new Uint8Array(size) };
        }
      },
    });
    const client = createClient(PhraseService, opened(overGrpcJs(port)));
    const sizes: number[] = [];
    for await (const { content } of client.listPhrases({})) sizes.push(content.byteLength);
    expect(sizes).toEqual([100_000, 200_000, 300_000]);
    // The tag and the length of the one field come before its bytes.
    expect(freedBefore).toEqual([[], [100_004], [100_004, 200_004]]);
  });

  it("refuses to start with a method that takes a stream of requests", async () => {
    const routes = [route(ServerReflection, reflectionService([]))];
    await expect(serve(mesh, {}, { routes })).rejects.toThrow("stream of requests");
  });
});
