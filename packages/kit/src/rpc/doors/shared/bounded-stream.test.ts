import { Code } from "@connectrpc/connect";
import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { afterEach, describe, expect, it, vi } from "vitest";
import { cleanUp, collect, type Door, type DoorOptions, doors, piece, serve } from "../../testing/doors.ts";
import { openTcpProxy } from "../../testing/tcp-proxy.ts";
import { boundedStream } from "./bounded-stream.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Serves a stream without end. */
async function serveEndless(door: Door, options: DoorOptions) {
  const released = Promise.withResolvers<void>();
  const { port } = await serve(
    door,
    {
      async *listPhrases() {
        try {
          for (;;) yield { content: new Uint8Array(200_000) };
        } finally {
          released.resolve();
        }
      },
    },
    options,
  );
  return { port, released: released.promise };
}

function open(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`).on("error", () => undefined);
  cleanUp(() => session.destroy());
  return session;
}

/** Opens a stream of answers, and reads none of it. */
async function callUnread(session: ClientHttp2Session, headers: Record<string, string> = {}) {
  const path = `/${PhraseService.typeName}/ListPhrases`;
  const common = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
  const stream = session.request({ ...common, ...headers }).on("error", () => undefined);
  stream.end(Buffer.alloc(5));
  await once(stream, "response");
  return stream;
}

describe.each(doors)("a stream of the $name door to a caller that has stopped reading", (door) => {
  it("is ended after `stalledMs`, which the caller learns once it reads on", async () => {
    const { port, released } = await serveEndless(door, { stalledMs: 100 });
    const stream = await callUnread(open(port));
    await released;
    const trailers = once(stream, "trailers");
    stream.resume();
    expect((await trailers)[0]).toMatchObject({ "grpc-status": String(Code.DeadlineExceeded) });
  });

  it("is ended at its deadline", async () => {
    const { port, released } = await serveEndless(door, {});
    await callUnread(open(port), { "grpc-timeout": "200m" });
    await released;
  });

  it("is ended, and its connection is closed, when the caller's host is lost", async () => {
    const { port, released } = await serveEndless(door, { pingMs: 100 });
    const proxy = await openTcpProxy(port);
    const session = open(proxy.port);
    await callUnread(session);
    const closed = once(session, "close");
    proxy.holdAnswers();
    await released;
    proxy.releaseAnswers();
    await closed;
  });
});

describe("a stream", () => {
  /** A stream of 1, 2 and 3, whose handler takes `stepMs` for each. */
  function stream(stepMs: number) {
    const handler = { hasEnded: false };
    async function* messages() {
      try {
        for (const value of [1, 2, 3]) {
          if (stepMs > 0) await new Promise((resolve) => setTimeout(resolve, stepMs));
          yield piece(value);
        }
      } finally {
        handler.hasEnded = true;
      }
    }
    return { handler, bounded: boundedStream(messages(), new AbortController().signal, 1_000) };
  }

  it("lasts while its caller takes each message within `stalledMs`", async () => {
    vi.useFakeTimers();
    const { bounded, handler } = stream(0);
    for (const value of [1, 2, 3]) {
      expect(await bounded.next()).toEqual({ done: false, value: piece(value) });
      await vi.advanceTimersByTimeAsync(999);
    }
    expect(handler.hasEnded).toBe(false);
    expect(await bounded.next()).toMatchObject({ done: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("fails once its caller has taken no message for `stalledMs`", async () => {
    vi.useFakeTimers();
    const { bounded, handler } = stream(0);
    await bounded.next();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(handler.hasEnded).toBe(true);
    await expect(bounded.next()).rejects.toThrow("stopped reading");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("may have a handler that needs longer than `stalledMs` for each message", async () => {
    vi.useFakeTimers();
    const { bounded } = stream(5_000);
    const all = collect(bounded);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await all).toEqual([1, 2, 3]);
  });
});
