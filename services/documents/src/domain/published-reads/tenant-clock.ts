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

/** The moment of a read has not come yet by the database's own clock; nothing was read. */
export class MomentAhead extends Error {
  override readonly name = "MomentAhead";
}

/** Reads tenants' clocks. */
export interface ClockReader {
  /** After a failover it may be older than a reading before it. */
  read(tenantId: string): Promise<ClockReading>;
  /**
   * Never older than what anybody has been shown; costs a round among the servers.
   *
   * @throws DomainError `unavailable` when no primary confirms it
   */
  confirm(tenantId: string): Promise<ClockReading>;
  /** The newest reading at hand, without a look at the database; undefined when there is none. */
  recall(tenantId: string): ClockReading | undefined;
}

/** The last tick that touched one of these types; undefined when none did. */
export function lastTouched({ types }: ClockReading, names: readonly string[]): Date | undefined {
  const ticks = names.flatMap((name) => types[name] ?? []);
  return ticks.length === 0 ? undefined : new Date(Math.max(...ticks.map((tick) => tick.getTime())));
}
