/**
 * Waits for `step`, at most `ms` milliseconds. Resolves true when the step finished and false when
 * the deadline came first. The step is not cancelled at the deadline; the caller has to end it.
 * Rejects when the step rejects in time.
 */
export async function withinDeadline(step: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([step.then(() => true), deadline]);
  } finally {
    clearTimeout(timer);
  }
}
