interface LeaseOptions {
  readonly leaseMs: number;
  /** Extends the lease. Resolves false when this process has lost it. */
  renew(until: Date): Promise<boolean>;
  readonly signal: AbortSignal;
}

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
 * Renews a lease while work runs under it. A failed renewal is repeated; meanwhile the lease may
 * end unnoticed, so the work's writes must not succeed once another process has the lease.
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
