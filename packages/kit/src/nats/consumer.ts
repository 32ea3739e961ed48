import { AckPolicy, type ConsumerMessages, type JsMsg, type NatsConnection, nanos } from "nats";
import { createBatcher } from "../queues/batcher.ts";
import { brokerTimeoutMs } from "./connection.ts";

/** A message is dropped after this many deliveries. MongoDB still has what it refers to. */
const deliveriesMax = 20;
const redeliverAfterMs = 1_000;

/** Called for a message that could not be handled; `isDropped` when it is not delivered again. */
type FailureReport = (error: unknown, isDropped: boolean) => void;

interface PullOptions<T> {
  readonly stream: string;
  readonly durable: string;
  readonly batchMax: number;
  readonly inFlightMax?: number;
  readonly parse: (data: Uint8Array) => T;
  readonly handle: (batch: readonly T[]) => Promise<void>;
  readonly onFailure: FailureReport;
  /** Called with the promise of each message's handling, which never rejects. */
  readonly track: (work: Promise<void>) => void;
  readonly signal: AbortSignal;
}

/** Creates the durable consumer unless it exists. */
export async function ensureConsumer(
  connection: NatsConnection,
  { stream, durable, ackWaitMs, batchMax }: { stream: string; durable: string; ackWaitMs: number; batchMax: number },
): Promise<void> {
  const manager = await connection.jetstreamManager({ timeout: brokerTimeoutMs });
  await manager.consumers.add(stream, {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: batchMax * 8,
  });
}

/**
 * Receives messages in batches and acknowledges each one after its batch was handled. Resolves or
 * rejects when the subscription ends; a message that cannot be handled does not end it.
 *
 * @param onPulling called once the broker delivers messages
 */
export async function pull<T>(
  connection: NatsConnection,
  options: PullOptions<T>,
  onPulling: () => void,
): Promise<void> {
  const { stream, durable, batchMax, signal, track } = options;
  const handleMessage = createBatcher<T, void>({
    itemsMax: batchMax,
    inFlightMax: options.inFlightMax ?? 1,
    run: (batch) => handleBatch(batch, options.handle),
  });
  const consumer = await connection.jetstream().consumers.get(stream, durable);
  const messages: ConsumerMessages = await consumer.consume({
    max_messages: batchMax * 2,
    expires: 2_000,
    idle_heartbeat: 1_000,
    abort_on_missing_resource: true,
  });
  onPulling();
  const close = () => void messages.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    for await (const message of messages) track(process(message, options, handleMessage));
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/**
 * Tries the items of a failed batch one by one, because one bad item would fail the batch each
 * time.
 */
async function handleBatch<T>(batch: readonly T[], handle: PullOptions<T>["handle"]): Promise<(undefined | Error)[]> {
  const failure = await attempt(batch, handle);
  if (!failure || batch.length === 1) return batch.map(() => failure);
  const outcomes: (undefined | Error)[] = [];
  for (const item of batch) outcomes.push(await attempt([item], handle));
  return outcomes;
}

async function attempt<T>(batch: readonly T[], handle: PullOptions<T>["handle"]): Promise<undefined | Error> {
  try {
    await handle(batch);
    return undefined;
  } catch (error) {
    return error instanceof Error
      ? error
      : new Error("the handler threw a value that is not an Error", { cause: error });
  }
}

interface Failure {
  readonly error: unknown;
  /** True when the message would fail each time, so that it is dropped at once. */
  readonly isForGood: boolean;
}

async function process<T>(
  message: JsMsg,
  { parse, onFailure }: PullOptions<T>,
  handle: (item: T) => Promise<void>,
): Promise<void> {
  const failure = await failureOf(message, parse, handle);
  const isDropped = failure !== undefined && (failure.isForGood || message.info.deliveryCount >= deliveriesMax);
  if (failure) onFailure(failure.error, isDropped);
  try {
    if (!failure) message.ack();
    else if (isDropped) message.term();
    else message.nak(redeliverAfterMs);
  } catch (error) {
    // The connection has closed meanwhile. The broker delivers the message again after `ackWaitMs`.
    onFailure(error, false);
  }
}

/** Passes items to `handle` in the order of its calls, because nothing is awaited before. */
async function failureOf<T>(
  message: JsMsg,
  parse: PullOptions<T>["parse"],
  handle: (item: T) => Promise<void>,
): Promise<Failure | undefined> {
  let item: T;
  try {
    item = parse(message.data);
  } catch (error) {
    return { error, isForGood: true };
  }
  return handle(item).then(
    () => undefined,
    (error: unknown) => ({ error, isForGood: false }),
  );
}
