interface LeaseOptions {
  readonly leaseMs: number;
  /** Extends the lease. Resolves false when this process has lost it. */
  renew(until: Date): Promise<boolean>;
  /** The caller's signal, which ends the work. */
  readonly signal: AbortSignal;
}

/** A lease that is renewed while work runs. */
interface KeptLease {
  /** Aborts when the lease is lost or the caller's signal aborts. */
  readonly signal: AbortSignal;
  readonly isLost: boolean;
}

/**
 * Renewals within the time of a lease. Two in a row may fail: the third still comes before the
 * lease ends.
 */
const renewalsPerLease = 4;

/**
 * Renews a lease while work runs under it. A failed renewal is repeated. Work that continues after
 * the lease was lost must notice the loss by the rows that it writes.
 */
export async function withLease<T>(
  { leaseMs, renew, signal }: LeaseOptions,
  work: (lease: KeptLease) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const renewal = setInterval(() => {
    renew(new Date(Date.now() + leaseMs)).then(
      (isKept) => isKept || lost.abort(),
      () => {},
    );
  }, leaseMs / renewalsPerLease);
  try {
    return await work({
      signal: AbortSignal.any([signal, lost.signal]),
      get isLost() {
        return lost.signal.aborted;
      },
    });
  } finally {
    clearInterval(renewal);
  }
}
