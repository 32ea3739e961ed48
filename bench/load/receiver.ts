import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { headerOf, MessageReader } from "./message-reader.ts";

/** A receiver of webhooks that costs little, accepts everything, and counts each webhook once however often it comes. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** When each webhook first came, by its id. */
  readonly arrivals: ReadonlyMap<string, Arrival>;
  /** Resolves when so many have come since the last `clear`; rejects when that takes too long. */
  untilCount(count: number, withinMs: number): Promise<void>;
  /** Forgets what came. */
  clear(): void;
}

/** A moment, on the monotonic clock and on the wall's. */
export interface Arrival {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const accepted = "HTTP/1.1 204 No Content\r\n\r\n";

/** Opens a receiver on a free port of 127.0.0.1. */
export async function openReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, Arrival>();
  const counted = new Counted(() => arrivals.size);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    receive(socket, (webhookId) => {
      if (arrivals.has(webhookId)) return;
      arrivals.set(webhookId, { monotonicMs: performance.now(), wallMs: Date.now() });
      counted.check();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals,
    untilCount: (count, withinMs) => counted.reach(count, withinMs),
    clear: () => arrivals.clear(),
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

function receive(socket: Socket, onWebhook: (webhookId: string) => void): void {
  const reader = new MessageReader();
  socket.setNoDelay(true);
  socket.on("data", (chunk: Buffer) => {
    const message = reader.push(chunk);
    if (!message) return;
    onWebhook(headerOf(message.head, "webhook-id") ?? "");
    socket.write(accepted);
  });
}

class Counted {
  readonly #count: () => number;
  #wanted = Number.POSITIVE_INFINITY;
  #reached: () => void = () => {};

  constructor(count: () => number) {
    this.#count = count;
  }

  check(): void {
    if (this.#count() >= this.#wanted) this.#reached();
  }

  async reach(count: number, withinMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = () => reject(new Error(`${this.#count()} of ${count} webhooks came within ${withinMs} ms`));
    const timer = setTimeout(late, withinMs);
    this.#wanted = count;
    this.#reached = resolve;
    this.check();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#wanted = Number.POSITIVE_INFINITY;
    }
  }
}
