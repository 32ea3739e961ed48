import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { inject } from "vitest";
import { readConfig } from "../../src/config.ts";
import { startPhrases } from "../../src/phrases.ts";

/** Some members of a phrase in JSON. */
export interface PhraseJson {
  id: string;
  language: string;
  phrase: string;
  forbidden: boolean;
  description: string;
}

export async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

/** A phrases service with a database of its own, and calls of its teams door. */
export async function openPhrases() {
  await using stack = new AsyncDisposableStack();
  const database = testDatabaseName("phrases");
  const env = { MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database, LOG_LEVEL: "silent" };
  const ports = { GRPC_PORT: "0", MESH_PORT: "0", OPS_PORT: "0" };
  const service = stack.use(await startPhrases(readConfig({ ...env, ...ports, ACCESS_TARGET: "off" })));
  const target = `127.0.0.1:${service.grpcPort}`;
  const client = stack.use(openRpcClient(PhraseService, { target, defaultTimeoutMs: 20_000 }));
  const opened = stack.move();
  let tenants = 0;

  const page = async (
    request: { tenantId: string; language?: string; contains?: string; pageToken?: string },
    limit = 200,
  ) => {
    const [message, ...more] = await collect(client.listPhrases({ format: PhraseFormat.JSON, limit, ...request }));
    if (!message || more.length > 0) throw new Error(`a page has one message, not ${more.length + (message ? 1 : 0)}`);
    const phrases = JSON.parse(Buffer.from(message.content).toString()) as PhraseJson[];
    return { phrases, next: message.nextPageToken };
  };
  return {
    client,
    database,
    page,
    newTenant: () => `keeper${(tenants += 1)}`,
    import: (
      tenantId: string,
      rows: readonly object[],
      options: { language?: string; dryRun?: boolean; withIds?: boolean } = {},
    ) =>
      client.importPhrases({
        tenantId,
        format: PhraseFormat.JSON,
        content: Buffer.from(JSON.stringify(rows)),
        ...options,
      }),
    pages: async (request: Parameters<typeof page>[0], limit?: number) => {
      const phrases: string[] = [];
      const sizes: number[] = [];
      let pageToken = "";
      do {
        const answer = await page({ ...request, pageToken }, limit);
        phrases.push(...answer.phrases.map(({ phrase }) => phrase));
        sizes.push(answer.phrases.length);
        pageToken = answer.next;
      } while (pageToken !== "");
      return { phrases, sizes };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
