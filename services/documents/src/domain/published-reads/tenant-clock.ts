/** An operation time of the database. Of two moments the greater one is the later one. */
export type Moment = bigint;

export interface ClockReading {
  /**
   * When the clock was read, or when this process committed `tick`. A read of documents with this
   * moment includes every publication up to `tick`, even if another server has become the primary
   * since.
   */
  readonly moment?: Moment;
  /** The last tick; absent before the first one. */
  readonly tick?: Date;
  /** From type to the last tick at which its publications may have changed. */
  readonly types: Readonly<Record<string, Date>>;
}

export interface ReadAt {
  /**
   * The moment of a clock's reading, a cursor or a page. The read includes what was committed up to
   * it, and may include later commits. Undefined for no such bound.
   */
  readonly moment: Moment | undefined;
  readonly signal: AbortSignal;
}

/** The moment of a read is ahead of the database's own clock; nothing was read. */
export class MomentAhead extends Error {
  override readonly name = "MomentAhead";
}

export interface ClockReader {
  /** Reads the clock; after a failover the reading may be older than one of another process. */
  read(tenantId: string): Promise<ClockReading>;
  /**
   * Reads the clock, never older than any reading that was shown; costs a round trip among the
   * servers.
   *
   * @throws DomainError `unavailable` when no server confirms that it is the primary
   */
  confirm(tenantId: string): Promise<ClockReading>;
  /** The newest remembered reading, without a read of the database; undefined without one. */
  recall(tenantId: string): ClockReading | undefined;
}

/** The last tick that touched one of these types; undefined when none did. */
export function lastTouched({ types }: ClockReading, names: readonly string[]): Date | undefined {
  const ticks = names.flatMap((name) => types[name] ?? []);
  return ticks.length === 0 ? undefined : new Date(Math.max(...ticks.map((tick) => tick.getTime())));
}
