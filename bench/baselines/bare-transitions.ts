/**
 * The baseline for transitions: one process that publishes directly with the driver, one
 * transaction for each document, for 64 callers of one tenant. `POST /run?durationMs=N` seeds
 * drafts, runs, and returns the figures.
 */
import { fastify } from "fastify";
import { MongoClient } from "mongodb";
import { runCallers } from "../load/caller-load.ts";
import type { LoadResult } from "../load/load-result.ts";
import { openBarePublications } from "./bare-publications.ts";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "", {
  maxPoolSize: 64,
  writeConcern: { w: "majority", journal: true },
});
const publications = await openBarePublications(client, client.db(process.env["MONGODB_DATABASE"] ?? ""));
const callers = 64;
/** Far more than this process can publish with one transaction for each document. */
const draftsPerSecond = 2_000;

async function run(durationMs: number): Promise<LoadResult> {
  const ids = await publications.seed((durationMs / 1_000) * draftsPerSecond);
  let last: Promise<unknown> = Promise.resolve();
  const call = () => {
    const documentId = ids.pop();
    if (documentId === undefined) return undefined;
    // One after the other: concurrent transactions conflict on the clock, and the driver repeats
    // them after back-offs of up to half a second.
    last = last.then(() => publications.publish(documentId));
    return last;
  };
  return runCallers({ callers, durationMs, call });
}

const app = fastify({ logger: false });
app.route<{ Querystring: { durationMs: string } }>({
  method: "POST",
  url: "/run",
  handler: (request) => run(Number(request.query.durationMs)),
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
