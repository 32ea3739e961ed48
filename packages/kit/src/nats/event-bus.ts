import type { NatsConnection, Subscription } from "nats";
import { setTimeout as pause } from "node:timers/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Logger } from "../telemetry/log.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import { throttle } from "../telemetry/throttle.ts";
import { BrokerConnection } from "./connection.ts";
import { ensureStream, type StreamSpec } from "./stream.ts";

export type { StreamSpec } from "./stream.ts";

/**
 * Messages through the broker. They only shorten waits: callers also poll MongoDB, so nothing is
 * lost while the broker is down.
 */
export interface EventBus extends AsyncDisposable {
  /** Sends to the processes that are subscribed now. Lost when the broker is not connected. */
  broadcast(subject: string, data: Uint8Array): void;
  /**
   * Subscribes to broadcasts, until the result is disposed or the bus is. A message for which
   * `handle` throws is counted, logged and dropped.
   */
  onBroadcast(subject: string, handle: (data: Uint8Array) => void): Disposable;
  /**
   * Has the broker keep broadcasts in a stream, for other programs. Makes the stream on every new
   * connection, since the broker may have lost its store, and gives an older one these settings.
   * While that fails it is tried again every 5 s and logged, and nothing else is affected.
   */
  keepStream(spec: StreamSpec): void;
  /**
   * The number of the present connection, from 1; undefined while there is none. Messages may have
   * been missed between two connections, however short the time between them.
   */
  connectionNumber(): number | undefined;
  /**
   * Sends a message through the broker to itself. Rejects within a second when there is no
   * connection or when the message does not come back.
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
/** Between two attempts to make a stream. */
const streamRetryMs = 5_000;
const streamFailureLogMs = 60_000;
/** How soon a new connection is noticed on which streams have to be made. */
const lookMs = 1_000;

class NatsBus implements EventBus {
  readonly #log: Logger;
  readonly #connection: BrokerConnection;
  readonly #failures: Counter<"source">;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];

  constructor({ registry, ...options }: EventBusOptions) {
    this.#log = options.log;
    this.#connection = new BrokerConnection(options);
    this.#failures = new Counter({
      name: "vidimus_bus_handling_failures_total",
      help: "Messages of the broker that could not be handled, by subject.",
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
  }

  broadcast(subject: string, data: Uint8Array): void {
    try {
      this.#connection.current?.publish(subject, data);
    } catch (error) {
      // The connection is closing, or the message is larger than the broker takes.
      this.#log.warn({ err: error, subject }, "message not sent to the broker");
    }
  }

  onBroadcast(subject: string, handle: (data: Uint8Array) => void): Disposable {
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
    let isOver = false;
    let subscription: Subscription | undefined;
    const subscribe = (connection: NatsConnection) => {
      // A connection that is being closed throws.
      if (!isOver && !this.#stop.signal.aborted) subscription = connection.subscribe(subject, { callback });
    };
    this.#connection.opened.then(subscribe, () => {});
    return {
      [Symbol.dispose]() {
        isOver = true;
        if (subscription && !subscription.isClosed()) subscription.unsubscribe();
      },
    };
  }

  keepStream(spec: StreamSpec): void {
    this.#loops.push(this.#keep(spec));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#connection[Symbol.asyncDispose]();
    await Promise.allSettled(this.#loops);
  }

  async #keep(spec: StreamSpec): Promise<void> {
    const { signal } = this.#stop;
    const onFailure = throttle<unknown>(streamFailureLogMs, (error, suppressed) => {
      this.#log.warn({ err: error, stream: spec.name, suppressed }, "stream of the broker cannot be made");
    });
    let madeOver: number | undefined;
    for (let waitMs = lookMs; !signal.aborted;) {
      try {
        const connection = await this.#connection.opened;
        const number = this.connectionNumber();
        waitMs = lookMs;
        if (number !== undefined && number !== madeOver) {
          await ensureStream(connection, spec);
          this.#log.info({ stream: spec.name }, "stream of the broker made");
        }
        madeOver = number;
      } catch (error) {
        if (!signal.aborted) onFailure(error);
        waitMs = streamRetryMs;
      }
      await pause(waitMs, undefined, { signal }).catch(() => {});
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
}
