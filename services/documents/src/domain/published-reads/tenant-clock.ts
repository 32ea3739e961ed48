/** A moment in the history of the database; only stores interpret it. */
export type Moment = bigint;

/** What a read of a tenant's clock found. */
export interface ClockReading {
  /**
   * When it was read: a read at this moment finds every publication up to the ticks, also from
   * another primary.
   */
  readonly moment?: Moment;
  /** The last tick; absent before the first one. */
  readonly tick?: Date;
  /** The last tick that touched each type. */
  readonly types: Readonly<Record<string, Date>>;
}

/** A read that follows a reading of the clock. */
export interface ReadAt {
  /** The clock reading's; the read may also see later commits. */
  readonly moment: Moment | undefined;
  readonly signal: AbortSignal;
}

/** Reads tenants' clocks. */
export interface ClockReader {
  read(tenantId: string): Promise<ClockReading>;
  /** The newest reading at hand, without a look at the database; undefined when there is none. */
  recall(tenantId: string): ClockReading | undefined;
}

/** The last tick that touched one of these types; undefined when none did. */
export function lastTouched({ types }: ClockReading, names: readonly string[]): Date | undefined {
  const ticks = names.flatMap((name) => types[name] ?? []);
  return ticks.length === 0 ? undefined : new Date(Math.max(...ticks.map((tick) => tick.getTime())));
}
