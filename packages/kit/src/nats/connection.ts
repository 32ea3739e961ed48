import { connect, createInbox, DebugEvents, Events, type NatsConnection, type Status } from "nats";
import type { Registry } from "prom-client";
import { withinDeadline } from "../deadline.ts";
import type { LiveFiles } from "../live-files.ts";
import { untilDone } from "../service/until-done.ts";
import type { Logger } from "../telemetry/log.ts";
import { type BrokerFiles, openBrokerFiles } from "./broker-files.ts";
import { brokerOptions } from "./broker-options.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import { closeSocketsAtOnce } from "./nats-internals.ts";
import { throttle } from "../telemetry/throttle.ts";

interface ConnectionOptions extends BrokerSettings {
  /** Shown in the broker's monitoring, and part of the subjects of the service's inboxes. */
  readonly name: string;
  readonly log: Logger;
  readonly registry: Registry;
}

const retryMs = 250;
/** Most milliseconds added to the pause at random, so that clients do not reconnect all at once. */
const jitterMs = 100;
/**
 * How long the broker may take for a connection, a request to JetStream, and the drain at a stop.
 */
export const brokerTimeoutMs = 2_000;
/**
 * Connecting fails several times a second while the broker is down, so the log has one line of it a
 * minute.
 */
const failureLogMs = 60_000;
/**
 * The client pings the broker this often and reconnects after two pings without an answer: a
 * connection that receives nothing is replaced within six seconds. The client's default of two
 * minutes would make it six minutes.
 */
const pingEveryMs = 2_000;
const pingTimeoutMs = 1_000;

/** A connection to the broker that reconnects until it is disposed. */
export class BrokerConnection implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  readonly #files: LiveFiles<BrokerFiles>;
  readonly #servers: readonly string[];
  readonly #inboxPrefix: string;
  readonly #stop = new AbortController();
  readonly #opened = Promise.withResolvers<NatsConnection>();
  readonly #connecting: Promise<void>;
  readonly #logFailure: (reason: unknown) => void;
  #connection: NatsConnection | undefined;
  #up = false;
  #made = 0;

  /** @throws ConfigError naming the setting of the broker that cannot be used */
  constructor(options: ConnectionOptions) {
    closeSocketsAtOnce();
    this.#options = options;
    const broker = brokerOptions(options, () => this.#files.value);
    this.#files = openBrokerFiles(options);
    this.#servers = broker.servers;
    // Each service has its own prefix of inboxes, so that the broker's permissions can keep other
    // services from subscribing to them.
    this.#inboxPrefix = `_INBOX.${options.name}`;
    this.#opened.promise.catch(() => {});
    this.#logFailure = throttle(failureLogMs, (reason, suppressed) => {
      const about = reason instanceof Error ? { err: reason } : { reason };
      options.log.warn({ ...about, servers: this.#servers, suppressed }, "broker cannot be reached");
    });
    this.#connecting = this.#connect(broker);
  }

  /**
   * Resolves with the connection once there is one; rejects when disposed before that. The
   * `NatsConnection` stays the same over reconnects.
   */
  get opened(): Promise<NatsConnection> {
    return this.#opened.promise;
  }

  /** The connection; undefined before the first one and while it is lost. */
  get current(): NatsConnection | undefined {
    return this.#up ? this.#connection : undefined;
  }

  /** Number of connections made so far. When it grew, messages may have been missed. */
  get made(): number {
    return this.#made;
  }

  /**
   * Sends a message through the broker to this process. Rejects when there is no connection or when
   * the message is not back within a second.
   */
  async ping(): Promise<void> {
    const connection = this.current;
    if (!connection) throw new Error("the broker cannot be reached");
    const inbox = createInbox(this.#inboxPrefix);
    const echo = Promise.withResolvers<void>();
    const subscription = connection.subscribe(inbox, { callback: () => echo.resolve() });
    try {
      connection.publish(inbox);
      if (!(await withinDeadline(echo.promise, pingTimeoutMs)))
        throw new Error("the broker is connected, but this process receives nothing");
    } finally {
      if (!connection.isClosed()) subscription.unsubscribe();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#files[Symbol.dispose]();
    this.#opened.reject(new Error("the bus is closed"));
    await this.#connecting;
    const connection = this.#connection;
    if (!connection) return;
    // A drain waits for the broker's answer, which a hanging broker never gives.
    if (
      !(await withinDeadline(
        connection.drain().catch(() => {}),
        brokerTimeoutMs,
      ))
    )
      await connection.close();
  }

  async #connect(broker: ReturnType<typeof brokerOptions>): Promise<void> {
    const options = {
      ...broker,
      name: this.#options.name,
      inboxPrefix: this.#inboxPrefix,
      maxReconnectAttempts: -1,
      reconnectTimeWait: retryMs,
      // 1 s by default; without TLS the default is `jitterMs` already.
      reconnectJitterTLS: jitterMs,
      timeout: brokerTimeoutMs,
      pingInterval: pingEveryMs,
      maxPingOut: 2,
      // Without this option the client stops reconnecting once the broker has refused its
      // credentials twice, for example while an operator changes them.
      ignoreAuthErrorAbort: true,
    };
    const { signal } = this.#stop;
    const connection = await untilDone(() => connect(options), { signal, retryMs, onFailure: this.#logFailure });
    if (!connection) return;
    this.#connection = connection;
    this.#up = true;
    this.#made += 1;
    this.#opened.resolve(connection);
    this.#options.log.info({ servers: this.#servers }, "broker connected");
    // Not awaited, or a stop would hang: the status iterator does not end when the connection
    // closes.
    void this.#watch(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.#note(status);
  }

  #note({ type, data }: Status): void {
    const { log } = this.#options;
    if (type === Events.Disconnect || type === Events.Reconnect) {
      this.#up = type === Events.Reconnect;
      if (this.#up) this.#made += 1;
      if (this.#up) log.info({ servers: this.#servers }, "broker connected again");
      else if (!this.#stop.signal.aborted) log.warn({ servers: this.#servers }, "broker lost");
    }
    if (type === DebugEvents.Reconnecting) this.#logFailure("connecting again");
    if (type === DebugEvents.StaleConnection) {
      log.warn({ servers: this.#servers }, "broker does not answer, the connection is made anew");
    }
    if (type === Events.Error) log.warn({ reason: data }, "broker refuses");
  }
}
