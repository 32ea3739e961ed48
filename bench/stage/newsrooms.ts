import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { createDrafts, publishAll } from "./drafts.ts";
import { openStage, type Stage } from "./open-stage.ts";

/** A stage under default limits with two tenants: one that attacks and one that works. */
interface Newsrooms extends AsyncDisposable {
  readonly stage: Stage;
  readonly attacker: Newsroom;
  readonly neighbour: Newsroom & { readonly publishedId: string };
}

export interface Newsroom {
  readonly tenantId: string;
  readonly apiKey: string;
}

const articlesOfNeighbour = 300;
const phrasesOfNeighbour = 20;
/** Large enough that a page of 200 reaches the limit of 4 MiB. */
const largeArticles = { count: 200, bytes: 25_000 };
const phrasesMax = 50_000;

/**
 * Opens the stage. It trusts `X-Forwarded-For`, so that one machine can act as many clients.
 *
 * @param needs what the attacker must have: published articles for pages of 4 MiB, or a dictionary
 * of 50,000 phrases, whose export has 8 MB
 */
export async function openNewsrooms(needs?: "pages" | "dictionary"): Promise<Newsrooms> {
  await using stack = new AsyncDisposableStack();
  const stage = stack.use(await openStage({ TRUSTED_PROXIES: "127.0.0.1/32" }));
  const { tenants, gateway } = stage.constellation.dev;
  const [attacker, neighbour] = tenants.map(({ id, apiKey }) => ({ tenantId: id, apiKey }));
  if (!attacker || !neighbour) throw new Error("the dev stack has fewer than two tenants");
  const [publishedId] = await publish(stage, neighbour, articlesOfNeighbour, 1_600);
  if (publishedId === undefined) throw new Error("nothing was published");
  await importPhrases(gateway, neighbour, phrasesOfNeighbour, 10);
  if (needs === "pages") await publish(stage, attacker, largeArticles.count, largeArticles.bytes);
  if (needs === "dictionary") await importPhrases(gateway, attacker, phrasesMax, 60);
  const opened = stack.move();
  return {
    stage,
    attacker,
    neighbour: { ...neighbour, publishedId },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function publish(stage: Stage, { tenantId }: Newsroom, count: number, bytes: number): Promise<string[]> {
  using documents = openRpcClient(DocumentService, { target: stage.constellation.dev.grpc.documents });
  const ids = await createDrafts(documents, tenantId, count, bytes);
  await publishAll(documents, tenantId, ids);
  return ids;
}

async function importPhrases(gateway: string, { apiKey }: Newsroom, count: number, chars: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, n) => `sv,${`ord ${n}`.padEnd(chars, " x")}`);
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "text/csv" };
  const body = ["language,phrase", ...lines].join("\n");
  const answer = await fetch(`${gateway}/v1/phrases/import`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`the import was answered with ${answer.status} ${await answer.text()}`);
}
