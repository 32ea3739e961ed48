/**
 * Settles as the work does, or rejects when the signal aborts first. The listener is removed when
 * the work ends, because otherwise a signal that outlives many such works would keep their
 * listeners.
 *
 * @param reason makes the error of the rejection; by default the signal's reason
 */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => unknown = () => signal?.reason,
): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const fail = () => reject(reason());
    // The work's own end is handled in any case: an unhandled rejection would end the process.
    const stopListening = () => signal.removeEventListener("abort", fail);
    work.then(resolve, reject).finally(stopListening);
    if (signal.aborted) return fail();
    signal.addEventListener("abort", fail, { once: true });
  });
}
