import type { NatsConnection, Subscription } from "nats";
import { repeat } from "../service/repeat.ts";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Logger } from "../telemetry/log.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import { throttle } from "../telemetry/throttle.ts";
import { BrokerConnection } from "./connection.ts";
import { ensureStream, type StreamSpec } from "./stream.ts";

export type { StreamSpec } from "./stream.ts";

/**
 * Sends and receives messages through the broker. Messages only shorten waits: every receiver
 * also finds a change without its message, by polling or when what it has cached expires.
 */
export interface EventBus extends AsyncDisposable {
  /**
   * Sends to the processes that are subscribed now. The message is lost when the broker is not
   * connected.
   */
  broadcast(subject: string, data: Uint8Array): void;
  /**
   * Subscribes to broadcasts until the result or the bus is disposed. A message for which `handle`
   * throws is counted and dropped, and logged at most every 10 s.
   */
  onBroadcast(subject: string, handle: (data: Uint8Array) => void): Disposable;
  /**
   * Makes a stream in which the broker keeps broadcasts for other programs. The stream is made
   * again on each new connection, since the broker may have lost its store. An existing stream with
   * other settings gets those of `spec`. A failed attempt is repeated after 5 s and logged at most
   * once a minute, and affects nothing else.
   */
  keepStream(spec: StreamSpec): void;
  /**
   * Number of the current connection, from 1; undefined without one. Whenever it changes, messages
   * may have been missed.
   */
  connectionNumber(): number | undefined;
  /**
   * Sends a message through the broker to this process. Rejects within a second when there is no
   * connection or when the message does not come back.
   */
  ping(): Promise<void>;
}

interface EventBusOptions extends BrokerSettings {
  /** Part of the subjects of the service's inboxes, which the broker's permissions name. */
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
 * A broken publisher may cause thousands of failures a second. Each is counted, and a subscription
 * logs one of them in this time.
 */
const failureLogMs = 10_000;
const streamRetryMs = 5_000;
const streamFailureLogMs = 60_000;
/** Pause between two checks for a new connection, on which the streams must be made again. */
const lookMs = 1_000;

class NatsBus implements EventBus {
  readonly #log: Logger;
  readonly #connection: BrokerConnection;
  readonly #failures: Counter<"source">;
  readonly #stop = new AbortController();
  readonly #streams: AsyncDisposable[] = [];

  constructor(options: EventBusOptions) {
    const { log, registry } = options;
    this.#log = log;
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
      // nats.js throws when the connection is closing or the message exceeds the broker's maximum.
      this.#log.warn({ err: error, subject }, "message not sent to the broker");
    }
  }

  onBroadcast(subject: string, handle: (data: Uint8Array) => void): Disposable {
    const onFailure = this.#failureReport(subject);
    // An error thrown here would end the client's reader, after which the open connection receives
    // nothing.
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
      // `subscribe` throws on a connection that is closing or closed.
      if (!isOver && !this.#stop.signal.aborted) subscription = connection.subscribe(subject, { callback });
    };
    this.#connection.opened
      .then(subscribe, () => {})
      .catch((error) => this.#log.warn({ err: error, subject }, "not subscribed at the broker"));
    return {
      [Symbol.dispose]() {
        isOver = true;
        if (subscription && !subscription.isClosed()) subscription.unsubscribe();
      },
    };
  }

  keepStream(spec: StreamSpec): void {
    this.#streams.push(this.#keep(spec));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    // Aborting comes first, so that nothing subscribes on the closing connection. The connection is
    // closed before the streams are awaited, because a stream may wait for `opened`, which then
    // rejects.
    const stopped = this.#streams.map((stream) => stream[Symbol.asyncDispose]());
    await this.#connection[Symbol.asyncDispose]();
    await Promise.all(stopped);
  }

  #keep(spec: StreamSpec): AsyncDisposable {
    const onFailure = throttle<unknown>(streamFailureLogMs, (error, suppressed) => {
      this.#log.warn({ err: error, stream: spec.name, suppressed }, "stream of the broker cannot be made");
    });
    let madeOver: number | undefined;
    const look = async () => {
      const connection = await this.#connection.opened;
      const number = this.connectionNumber();
      if (number !== undefined && number !== madeOver) {
        await ensureStream(connection, spec);
        this.#log.info({ stream: spec.name }, "stream of the broker made");
      }
      madeOver = number;
    };
    return repeat(look, { everyMs: lookMs, retryMs: streamRetryMs, onFailure });
  }

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
