export interface AttackTarget {
  /** Base URL of the gateway or of the baseline `bare-listener`. */
  readonly url: string;
  readonly apiKey: string;
  readonly tenantId: string;
  /** `host:port` at which `prepare` calls the documents service; undefined for no calls. */
  readonly documents: string | undefined;
}

/** A form of attack: the pieces that are written to each connection, and their pace. */
export interface AttackForm {
  readonly name: string;
  /**
   * Number of connections that are held open: they send their pieces, wait, and are opened again
   * after their end.
   */
  readonly held?: number;
  /**
   * Milliseconds after its end at which a held connection is opened again: 50 by default; Infinity
   * for never.
   */
  readonly reopenMs?: number;
  /** Whether a held connection waits out the `Retry-After` of its last answer. */
  readonly heedsRetryAfter?: boolean;
  /** Held connections that are opened per second at the start; all at once by default. */
  readonly opensPerSecond?: number;
  /** New connections a second, each ended once it is answered. */
  readonly perSecond?: number;
  /** Time between pieces; 0 by default. */
  readonly pieceEveryMs?: number;
  /** Time between two reads of at most 64 KiB; 0 by default; Infinity reads once. */
  readonly readEveryMs?: number;
  /** Makes the RPCs of the form before its first connection. Returns an outcome for each call. */
  prepare?(): Promise<string[]>;
  /**
   * The pieces of a connection; connections are counted from 0, and one that is opened again keeps
   * its number.
   */
  pieces(connection: number): Iterable<string | Buffer>;
}
