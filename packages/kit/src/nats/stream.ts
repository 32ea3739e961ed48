import { DiscardPolicy, type NatsConnection, NatsError, nanos, RetentionPolicy, StorageType } from "nats";
import { brokerTimeoutMs } from "./connection.ts";

export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  /** Milliseconds after which the broker drops a message. */
  readonly ageMsMax: number;
  /** Size in bytes at which the broker drops the oldest messages. */
  readonly bytesMax: number;
  /** Number of servers that store the stream. */
  readonly replicas: number;
}

/** The broker's error code when a stream of this name has other settings. */
const otherSettings = 10_058;

export async function ensureStream(connection: NatsConnection, spec: StreamSpec): Promise<void> {
  const { streams } = await connection.jetstreamManager({ timeout: brokerTimeoutMs });
  const config = {
    name: spec.name,
    subjects: [...spec.subjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: nanos(spec.ageMsMax),
    max_bytes: spec.bytesMax,
    num_replicas: spec.replicas,
  };
  try {
    await streams.add(config);
  } catch (error) {
    if (!(error instanceof NatsError && error.api_error?.err_code === otherSettings)) throw error;
    await streams.update(spec.name, config);
  }
}
