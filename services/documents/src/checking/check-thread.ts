import { setNicer } from "@vidimus/kit/tuning/lower-helpers";
import { parentPort } from "node:worker_threads";
import { type Job, runJob } from "./check-job.ts";

/**
 * By how much the thread's niceness is above the process's: while other threads need the CPU, Linux
 * gives it a third of their share, so that event loops seldom wait for it.
 */
const niceness = 5;

// On Linux this sets the priority of the calling thread, elsewhere that of the whole process.
if (process.platform === "linux") setNicer(niceness);

parentPort?.on("message", (job: Job) => {
  runJob(job, (report, owned = []) => parentPort?.postMessage(report, owned));
});
