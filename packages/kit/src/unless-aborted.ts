/**
 * Settles as the work does, or rejects when the signal aborts first. The listener is removed when
 * the work ends, because the signal may be used for much other work after it.
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
    const stopListening = () => signal.removeEventListener("abort", fail);
    // Handle the work's end even if the signal has aborted: an unhandled rejection would end the
    // process.
    work.then(resolve, reject).finally(stopListening);
    if (signal.aborted) return fail();
    signal.addEventListener("abort", fail, { once: true });
  });
}
