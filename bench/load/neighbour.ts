import { randomUUID } from "node:crypto";
import { article } from "./article.ts";
import type { LoadResult } from "./load-result.ts";
import { type PacedLoadOptions, runPaced } from "./paced-load.ts";

/**
 * The work of a neighbour. `phrases` reads a small dictionary, because some forms burden only the
 * phrases service.
 */
export const neighbourWork = ["create", "list", "by-id", "phrases"] as const;

type NeighbourWork = (typeof neighbourWork)[number];

interface WorkResult extends LoadResult {
  /** Answers of 500 and above. */
  readonly serverErrors: number;
  /** Other unexpected answers, and requests without an answer. */
  readonly otherFailures: number;
}

/** Latencies include those of failures. */
export type NeighbourTurn = Readonly<Record<NeighbourWork, WorkResult>>;

/** A tenant that uses the platform as intended, at a modest pace. */
interface Neighbour {
  readonly gateway: string;
  readonly apiKey: string;
  /** One of its published documents. */
  readonly publishedId: string;
}

/**
 * Requests a second of each kind of work: 1,200 creates a minute stay within the default write
 * budget.
 */
const paceDefault = 20;
const answerMsMax = 15_000;

/** Resolves when the last request is answered, at most 15 s after `durationMs`. */
export async function runNeighbour(
  neighbour: Neighbour,
  durationMs: number,
  perSecond = paceDefault,
): Promise<NeighbourTurn> {
  const pace = { perSecond, durationMs };
  const results = neighbourWork.map(async (work) => [work, await runWork(neighbour, work, pace)] as const);
  return Object.fromEntries(await Promise.all(results)) as NeighbourTurn;
}

async function runWork(
  neighbour: Neighbour,
  work: NeighbourWork,
  pace: Omit<PacedLoadOptions, "send">,
): Promise<WorkResult> {
  const failures = { serverErrors: 0, otherFailures: 0 };
  const send = async () => {
    const status = await ask(neighbour, work);
    if (status >= 500) failures.serverErrors += 1;
    else if (status !== requests[work].status) failures.otherFailures += 1;
  };
  return { ...(await runPaced({ ...pace, send })), ...failures };
}

interface Request {
  /** Expected status of the answer. */
  readonly status: number;
  /** Client address behind the trusted proxy; each kind of work has another. */
  readonly client: string;
  path(neighbour: Neighbour): string;
  body?(): string;
}

const requests: Readonly<Record<NeighbourWork, Request>> = {
  create: {
    status: 201,
    client: "192.0.2.1",
    path: () => "/v1/documents",
    body: () => JSON.stringify(article(2_000, randomUUID())),
  },
  list: { status: 200, client: "192.0.2.2", path: () => "/v1/documents?type=core/article&limit=50" },
  "by-id": { status: 200, client: "192.0.2.3", path: ({ publishedId }) => `/v1/publisher/documents/${publishedId}` },
  phrases: { status: 200, client: "192.0.2.4", path: () => "/v1/phrases?format=json" },
};

/** The status of the answer; 0 when there is none. */
async function ask(neighbour: Neighbour, work: NeighbourWork): Promise<number> {
  const { client, path, body } = requests[work];
  const init = body ? { method: "POST", body: body() } : {};
  const headers = {
    authorization: `Bearer ${neighbour.apiKey}`,
    "content-type": "application/json",
    "x-forwarded-for": client,
  };
  try {
    const signal = AbortSignal.timeout(answerMsMax);
    const response = await fetch(new URL(path(neighbour), neighbour.gateway), { ...init, headers, signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
