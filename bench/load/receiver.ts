import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { headerOf, MessageReader } from "./message-reader.ts";

/** A receiver that costs little CPU. Repetitions of a webhook count once. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** From webhook id to the first accepted arrival, in the order of arrival. */
  readonly arrivals: ReadonlyMap<string, Arrival>;
  /**
   * Resolves when `count` webhooks have arrived since the last `clear`; rejects after `withinMs`.
   */
  untilCount(count: number, withinMs: number): Promise<void>;
  clear(): void;
  /** How the next webhooks are treated; they are accepted at first. */
  treat(treatment: Treatment): void;
}

/** Accepted, refused with 503, never answered, or accepted with an answer after `lateMs`. */
type Treatment = "accept" | "refuse" | "hang" | { readonly lateMs: number };

interface Arrival {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const accepted = "HTTP/1.1 204 No Content\r\n\r\n";
const refused = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";

export async function openReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, Arrival>();
  const counted = new Counted(() => arrivals.size);
  const sockets = new Set<Socket>();
  let treatment: Treatment = "accept";
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    receive(socket, (webhookId) => {
      if (treatment === "hang") return;
      if (treatment === "refuse") return void socket.write(refused);
      if (!arrivals.has(webhookId)) arrivals.set(webhookId, { monotonicMs: performance.now(), wallMs: Date.now() });
      counted.check();
      if (treatment === "accept") socket.write(accepted);
      else setTimeout(() => socket.writable && socket.write(accepted), treatment.lateMs);
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
    treat: (next) => void (treatment = next),
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
