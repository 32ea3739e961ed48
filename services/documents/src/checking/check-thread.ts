import { parentPort } from "node:worker_threads";
import { type Job, runJob } from "./check-job.ts";

/** Runs in a thread: does one job after the other. */
parentPort?.on("message", (job: Job) => {
  runJob(job, (report) => parentPort?.postMessage(report));
});
