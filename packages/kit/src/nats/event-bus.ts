import { type NatsConnection, nanos, RetentionPolicy, StorageType } from "nats";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import { withinDeadline } from "../deadline.ts";
import type { Logger } from "../telemetry/log.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import { BrokerConnection, brokerTimeoutMs, retryMs } from "./connection.ts";
import { ensureConsumer, pull } from "./consumer.ts";
import { throttle } from "../telemetry/throttle.ts";

/** A JetStream stream and the subjects it stores. */
export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  /** Milliseconds after which the broker drops a message. MongoDB still has what it refers to. */
  readonly ageMsMax: number;
}

/** A durable consumer of one stream. Replicas that use the same name share its messages. */
export interface ConsumerSpec {
  readonly stream: StreamSpec;
  readonly durable: string;
  /** A message that is not acknowledged within this time is delivered again. */
  readonly ackWaitMs: number;
  /** Most messages in a batch. */
  readonly batchMax: number;
  /** Batches handled at once; 1 by default. With more, batches may finish out of order. */
  readonly inFlightMax?: number;
}

/** Handles the messages of a consumer. */
export interface BatchHandler<T> {
  /** Parses the body of one message. When it throws, the message is counted, logged and dropped. */
  parse(data: Uint8Array): T;
  /**
   * Handles a batch. When it rejects, it is called again with each message alone. A message that
   * fails alone is delivered again a second later, twenty times at most.
   */
  handle(batch: readonly T[]): Promise<void>;
}

/**
 * Messages through the broker. They only shorten waits: callers also poll MongoDB, so nothing is
 * lost while the broker is down.
 */
export interface EventBus extends AsyncDisposable {
  /**
   * Publishes to a stream. Rejects when the broker does not confirm within 2 s. The broker drops a
   * message whose id it has stored within the last two minutes.
   */
  publish(stream: StreamSpec, subject: string, data: Uint8Array, messageId: string): Promise<void>;
  /**
   * Passes batches to the handler until the bus is disposed, and acknowledges each message after
   * its batch was handled. Creates the stream and the consumer, again after the broker lost its
   * store.
   */
  consume<T>(spec: ConsumerSpec, handler: BatchHandler<T>): void;
  /** Sends to the processes that are subscribed now. Lost when the broker is not connected. */
  broadcast(subject: string, data: Uint8Array): void;
  /**
   * Subscribes to broadcasts. A message for which `handle` throws is counted, logged and dropped.
   */
  onBroadcast(subject: string, handle: (data: Uint8Array) => void): void;
  /**
   * The number of the present connection, from 1; undefined while there is none. Messages may have
   * been missed between two connections, however short the time between them.
   */
  connectionNumber(): number | undefined;
  /**
   * Sends a message through the broker to itself. Rejects within a second when there is no
   * connection, when the message does not come back, or when a consumer is interrupted.
   */
  ping(): Promise<void>;
}

interface EventBusOptions extends BrokerSettings {
  /** Name of the service, shown in the broker's monitoring. */
  readonly name: string;
  readonly log: Logger;
  readonly registry: Registry;
}

/**
 * Opens the bus. Returns before there is a connection; connecting is retried until the bus is
 * disposed.
 *
 * @throws ConfigError naming the setting of the broker that cannot be used
 */
export function openEventBus(options: EventBusOptions): EventBus {
  return new NatsBus(options);
}

/**
 * Each failure is counted. A broken publisher may cause thousands a second, so logs are throttled.
 */
const failureLogMs = 10_000;

class NatsBus implements EventBus {
  readonly #log: Logger;
  readonly #connection: BrokerConnection;
  readonly #failures: Counter<"source">;
  readonly #stop = new AbortController();
  readonly #knownStreams = new Set<string>();
  readonly #loops: Promise<void>[] = [];
  readonly #underway = new Set<Promise<void>>();
  /** Names of the consumers that cannot receive messages now. */
  readonly #interrupted = new Set<string>();

  constructor({ registry, ...options }: EventBusOptions) {
    this.#log = options.log;
    this.#connection = new BrokerConnection({ ...options, onChange: () => this.#knownStreams.clear() });
    this.#failures = new Counter({
      name: "vidimus_bus_handling_failures_total",
      help: "Messages of the broker that could not be handled, by subject or consumer.",
      labelNames: ["source"],
      registers: [registry],
    });
    const isConnected = () => this.connectionNumber() !== undefined;
    const connected = new Gauge({
      name: "vidimus_bus_connected",
      help: "1 while the broker is connected.",
      registers: [],
      collect() {
        this.set(isConnected() ? 1 : 0);
      },
    });
    registry.registerMetric(connected);
  }

  connectionNumber(): number | undefined {
    return this.#connection.current && this.#connection.made;
  }

  async ping(): Promise<void> {
    await this.#connection.ping();
    const [durable] = this.#interrupted;
    if (durable !== undefined) throw new Error(`the consumer ${durable} gets no messages`);
  }

  async publish(stream: StreamSpec, subject: string, data: Uint8Array, messageId: string): Promise<void> {
    const connection = this.#connection.current;
    if (!connection) throw new Error("the broker is not connected");
    await this.#ensureStream(connection, stream);
    try {
      await connection.jetstream({ timeout: brokerTimeoutMs }).publish(subject, data, { msgID: messageId });
    } catch (error) {
      this.#knownStreams.delete(stream.name);
      throw error;
    }
  }

  consume<T>(spec: ConsumerSpec, handler: BatchHandler<T>): void {
    this.#loops.push(this.#consume(spec, handler));
  }

  broadcast(subject: string, data: Uint8Array): void {
    this.#connection.current?.publish(subject, data);
  }

  onBroadcast(subject: string, handle: (data: Uint8Array) => void): void {
    const onFailure = this.#failureReport(subject);
    // An error thrown here would end the client's reader: the connection would stay open and
    // receive nothing.
    const callback = (fault: Error | null, message: { data: Uint8Array }) => {
      try {
        if (fault) throw fault;
        handle(message.data);
      } catch (error) {
        onFailure(error);
      }
    };
    this.#connection.opened.then(
      (connection) => void connection.subscribe(subject, { callback }),
      () => {},
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await withinDeadline(Promise.allSettled(this.#underway), 5_000);
    await this.#connection[Symbol.asyncDispose]();
    await Promise.allSettled(this.#loops);
  }

  async #consume<T>(spec: ConsumerSpec, handler: BatchHandler<T>): Promise<void> {
    const { durable } = spec;
    const report = this.#failureReport(durable);
    const options = {
      ...spec,
      stream: spec.stream.name,
      parse: (data: Uint8Array) => handler.parse(data),
      handle: (batch: readonly T[]) => handler.handle(batch),
      onFailure: (error: unknown, isDropped: boolean) =>
        report(isDropped ? new Error("message dropped", { cause: error }) : error),
      track: (work: Promise<void>) => this.#track(work),
      signal: this.#stop.signal,
    };
    while (!this.#stop.signal.aborted) {
      try {
        this.#interrupted.add(durable);
        const connection = await this.#connection.opened;
        await this.#ensureStream(connection, spec.stream);
        await ensureConsumer(connection, options);
        await pull(connection, options, () => this.#interrupted.delete(durable));
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#knownStreams.delete(spec.stream.name);
        this.#log.warn({ err: error, durable }, "consumer interrupted");
        await pause(retryMs, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    }
  }

  /** Counts each message that could not be handled, and logs one every `failureLogMs`. */
  #failureReport(source: string): (error: unknown) => void {
    const log = throttle<unknown>(failureLogMs, (error, suppressed) => {
      this.#log.warn({ err: error, source, suppressed }, "message of the broker not handled");
    });
    return (error) => {
      this.#failures.inc({ source });
      log(error);
    };
  }

  #track(work: Promise<void>): void {
    this.#underway.add(work);
    void work.finally(() => this.#underway.delete(work));
  }

  async #ensureStream(connection: NatsConnection, stream: StreamSpec): Promise<void> {
    if (this.#knownStreams.has(stream.name)) return;
    const manager = await connection.jetstreamManager({ timeout: brokerTimeoutMs });
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
}
