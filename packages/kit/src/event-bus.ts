import {
  AckPolicy,
  connect,
  Events,
  type JetStreamClient,
  type JsMsg,
  type NatsConnection,
  nanos,
  RetentionPolicy,
  StorageType,
} from "nats";
import { setTimeout as pause } from "node:timers/promises";
import { createBatcher } from "./batcher.ts";
import { withinDeadline } from "./deadline.ts";
import type { Logger } from "./log.ts";

/** A JetStream stream: a name and the subjects it keeps. */
export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  /** Messages older than this are dropped, in milliseconds: MongoDB remembers, the broker only wakes. */
  readonly ageMsMax: number;
}

/** A durable consumer of one stream; the replicas that name the same one share its messages. */
export interface ConsumerSpec {
  readonly stream: StreamSpec;
  readonly durable: string;
  /** Unacknowledged messages come back after this long. */
  readonly ackWaitMs: number;
  /** Most messages taken at once. */
  readonly batchMax: number;
  /** Batches handled at once; 1 unless said. More than one gives up the order between batches. */
  readonly inFlightMax?: number;
}

/** Takes a batch of message bodies; the batch comes back when it rejects. */
export type BatchHandler = (batch: readonly Uint8Array[]) => Promise<void>;

/** The broker, as far as this platform uses it. Losing it loses nothing: every caller has MongoDB to fall back on. */
export interface EventBus extends AsyncDisposable {
  /** Publishes to a stream; rejects when the broker does not confirm within 2 s. The id deduplicates for two minutes. */
  publish(stream: StreamSpec, subject: string, data: Uint8Array, messageId: string): Promise<void>;
  /**
   * Hands batches to `handle` until the bus is disposed. A message is acknowledged when its batch was handled.
   * Streams and consumers that vanished with the broker's store are made anew.
   */
  consume(spec: ConsumerSpec, handle: BatchHandler): void;
  /** Sends to whoever listens right now, to be lost otherwise. */
  broadcast(subject: string, data: Uint8Array): void;
  /** Listens to broadcasts. */
  onBroadcast(subject: string, handle: (data: Uint8Array) => void): void;
  isConnected(): boolean;
}

/**
 * Opens the bus. Returns at once even when no broker answers: connecting goes on in the background for ever.
 *
 * @param options `url` of the broker, `name` shown in its monitoring: the service's
 */
export function openEventBus(options: { url: string; name: string; log: Logger }): EventBus {
  return new NatsBus(options);
}

const retryMs = 250;
const confirmMs = 2_000;

class NatsBus implements EventBus {
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #knownStreams = new Set<string>();
  readonly #loops: Promise<void>[] = [];
  readonly #inHand = new Set<Promise<void>>();
  readonly #opened = Promise.withResolvers<NatsConnection>();
  #connection: NatsConnection | undefined;
  #up = false;

  constructor({ url, name, log }: { url: string; name: string; log: Logger }) {
    this.#log = log;
    this.#opened.promise.catch(() => {});
    this.#loops.push(this.#connect(url, name));
  }

  isConnected(): boolean {
    return this.#up;
  }

  async publish(stream: StreamSpec, subject: string, data: Uint8Array, messageId: string): Promise<void> {
    if (!this.#connection || !this.#up) throw new Error("the broker is not connected");
    await this.#ensureStream(this.#connection, stream);
    try {
      await this.#connection.jetstream({ timeout: confirmMs }).publish(subject, data, { msgID: messageId });
    } catch (error) {
      this.#knownStreams.delete(stream.name);
      throw error;
    }
  }

  consume(spec: ConsumerSpec, handle: BatchHandler): void {
    this.#loops.push(this.#consume(spec, handle));
  }

  broadcast(subject: string, data: Uint8Array): void {
    if (this.#up) this.#connection?.publish(subject, data);
  }

  onBroadcast(subject: string, handle: (data: Uint8Array) => void): void {
    const subscribe = (connection: NatsConnection) => {
      connection.subscribe(subject, { callback: (error, { data }) => void (error ?? handle(data)) });
    };
    this.#opened.promise.then(subscribe, () => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#opened.reject(new Error("the bus is closed"));
    await withinDeadline(Promise.allSettled(this.#inHand), 5_000);
    await this.#connection?.drain().catch(() => {});
    await Promise.allSettled(this.#loops);
  }

  async #connect(url: string, name: string): Promise<void> {
    const options = { servers: url, name, maxReconnectAttempts: -1, reconnectTimeWait: retryMs, timeout: confirmMs };
    while (!this.#stop.signal.aborted) {
      try {
        this.#connection = await connect(options);
        this.#up = true;
        this.#opened.resolve(this.#connection);
        // Not awaited: the client's row of statuses does not end, not even with its connection.
        void this.#watch(this.#connection);
        return;
      } catch {
        await this.#pause();
      }
    }
  }

  /** After a reconnect nothing is known of the broker's store: it may be a new one. */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type !== Events.Disconnect && type !== Events.Reconnect) continue;
      this.#up = type === Events.Reconnect;
      this.#knownStreams.clear();
      this.#log.info({ type }, "broker");
    }
  }

  async #consume(spec: ConsumerSpec, handle: BatchHandler): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const connection = await this.#opened.promise;
        await this.#ensureStream(connection, spec.stream);
        await this.#ensureConsumer(connection, spec);
        await this.#pull(connection.jetstream(), spec, handle);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#knownStreams.delete(spec.stream.name);
        this.#log.warn({ err: error, durable: spec.durable }, "consumer interrupted");
        await this.#pause();
      }
    }
  }

  /** Each message joins the batch that is forming, and is acknowledged when that batch has been handled. */
  async #pull(js: JetStreamClient, spec: ConsumerSpec, handle: BatchHandler): Promise<void> {
    const handleMessage = createBatcher<JsMsg, void>({
      itemsMax: spec.batchMax,
      inFlightMax: spec.inFlightMax ?? 1,
      run: async (batch) => {
        await handle(batch.map(({ data }) => data));
        return batch.map(() => undefined);
      },
    });
    const consumer = await js.consumers.get(spec.stream.name, spec.durable);
    const messages = await consumer.consume({
      max_messages: spec.batchMax * 2,
      expires: 2_000,
      idle_heartbeat: 1_000,
      abort_on_missing_resource: true,
    });
    const close = () => void messages.close();
    this.#stop.signal.addEventListener("abort", close, { once: true });
    try {
      for await (const message of messages) this.#track(this.#settle(message, handleMessage(message)));
    } finally {
      this.#stop.signal.removeEventListener("abort", close);
    }
  }

  async #settle(message: JsMsg, handled: Promise<void>): Promise<void> {
    try {
      await handled;
      message.ack();
    } catch (error) {
      this.#log.warn({ err: error }, "message comes back");
      message.nak(1_000);
    }
  }

  #track(work: Promise<void>): void {
    this.#inHand.add(work);
    void work.finally(() => this.#inHand.delete(work));
  }

  async #ensureStream(connection: NatsConnection, stream: StreamSpec): Promise<void> {
    if (this.#knownStreams.has(stream.name)) return;
    const manager = await connection.jetstreamManager({ timeout: confirmMs });
    await manager.streams.add({
      name: stream.name,
      subjects: [...stream.subjects],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      max_age: nanos(stream.ageMsMax),
      duplicate_window: nanos(Math.min(120_000, stream.ageMsMax)),
    });
    this.#knownStreams.add(stream.name);
  }

  async #ensureConsumer(connection: NatsConnection, spec: ConsumerSpec): Promise<void> {
    const manager = await connection.jetstreamManager({ timeout: confirmMs });
    await manager.consumers.add(spec.stream.name, {
      durable_name: spec.durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(spec.ackWaitMs),
      max_ack_pending: spec.batchMax * 8,
    });
  }

  async #pause(): Promise<void> {
    await pause(retryMs, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}
