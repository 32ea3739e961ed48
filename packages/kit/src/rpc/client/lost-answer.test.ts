import { Code, createClient } from "@connectrpc/connect";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { ServerHttp2Stream } from "node:http2";
import { constants } from "node:http2";
import { expect, test, vi } from "vitest";
import { fromConnectError } from "../errors/error-table.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import { partialRoute } from "../doors/shared/route.ts";
import { failure, mesh, mib, opened, overGrpcJs, serve } from "../testing/doors.ts";
import { answerRaw } from "../testing/raw-server.ts";

const head = { ":status": 200, "content-type": "application/grpc+proto" };
/** The first bytes of a message whose header announces nine bytes. */
const cutMessage = Buffer.from([0, 0, 0, 0, 9, 0x0a, 0x07]);
const resets = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "STREAM_CLOSED",
  "REFUSED_STREAM",
  "CANCEL",
  "ENHANCE_YOUR_CALM",
  "HTTP_1_1_REQUIRED",
] as const;

type End = (stream: ServerHttp2Stream, cut: () => void) => void;

/** The ways in which a server ends a call that it does not answer. */
const ways: readonly (readonly [how: string, end: End])[] = [
  ...resets.map((name): [string, End] => [
    `resets the stream with ${name}`,
    (stream) => stream.close(constants[`NGHTTP2_${name}`]),
  ]),
  ...(["INTERNAL_ERROR", "CANCEL"] as const).map((name): [string, End] => [
    `cuts its answer with ${name}`,
    (stream) => {
      stream.respond(head);
      stream.write(cutMessage, () => stream.close(constants[`NGHTTP2_${name}`]));
    },
  ]),
  [
    "ends the stream without trailers",
    (stream) => {
      stream.respond(head);
      stream.end(cutMessage);
    },
  ],
  ...(["INTERNAL_ERROR", "ENHANCE_YOUR_CALM"] as const).map((name): [string, End] => [
    `sends GOAWAY with ${name}`,
    (stream) => stream.session?.goaway(constants[`NGHTTP2_${name}`]),
  ]),
  ["is killed", (_stream, cut) => cut()],
  [
    "is killed in the middle of its answer",
    (stream, cut) => {
      stream.respond(head);
      stream.write(cutMessage, cut);
    },
  ],
  ["closes the connection", (stream) => stream.session?.destroy()],
  ["closes the connection after a fault", (stream) => stream.session?.destroy(new Error("a fault"))],
];

const ignored = (stream: ServerHttp2Stream) => stream.on("error", () => {});

test.each(ways)("a call fails as Unavailable when its server %s", async (_how, end) => {
  const port = await answerRaw((stream, cut) => end(ignored(stream), cut));
  const client = createClient(PhraseService, opened(overGrpcJs(port)));
  // The server ends a call with this request while the client still sends it.
  const large = { phraseJson: new Uint8Array(8 * mib) };
  const calls = [
    client.upsertPhrase({}),
    client.upsertPhrase(large),
    client.listPhrases({})[Symbol.asyncIterator]().next(),
  ];
  for (const error of await Promise.all(calls.map(failure))) {
    expect([error.code, fromConnectError(error)?.kind]).toEqual([Code.Unavailable, "unavailable"]);
  }
});

test.each(ways)("another replica answers an idempotent call whose server %s", async (_how, end) => {
  const answer = vi.fn<End>((stream, cut) => end(ignored(stream), cut));
  const port = await answerRaw(answer);
  const listKeys = () => ({ activeKeyId: "sound", keys: [] });
  const sound = await serve(mesh, {}, { routes: [partialRoute(TrustListService, { listKeys })] });
  const target = `ipv4:127.0.0.1:${port},127.0.0.1:${sound.port}`;
  const client = createClient(TrustListService, opened(createGrpcTransport({ target })));
  for (let calls = 0; calls < 20 || answer.mock.calls.length === 0; calls += 1) {
    expect((await client.listKeys({})).activeKeyId).toBe("sound");
  }
});
