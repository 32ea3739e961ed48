/**
 * Waits for a step, but no longer than `ms`. Resolves false when the deadline came first; the step itself goes on, so
 * follow up with something that ends it. A failing step rejects.
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
