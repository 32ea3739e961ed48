import type { ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";

/** Stops the delivery process (SIGSTOP) during `work`, so that it delivers only afterwards. */
export async function holdDelivery<T>(constellation: ProcessConstellation, work: () => Promise<T>): Promise<T> {
  const { pids } = await constellation.current();
  const delivery = pids["delivery"];
  if (delivery === undefined) throw new Error("no delivery process runs");
  process.kill(delivery, "SIGSTOP");
  try {
    return await work();
  } finally {
    process.kill(delivery, "SIGCONT");
  }
}
