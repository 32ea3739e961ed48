/** What imports cost of a tenant's write budget. */
import type { ServiceImpl } from "@connectrpc/connect";
import { type ImportPhrasesRequest, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

/** A phrases service that refuses an import by its first row, `invalid` or `late`. */
const phrases = {
  importPhrases: async ({ content }: ImportPhrasesRequest) => {
    const text = Buffer.from(content).toString();
    if (text.startsWith("language,phrase\ninvalid,")) throw new DomainError("invalid", "nothing was imported");
    if (text.startsWith("language,phrase\nlate,")) throw new DomainError("conflict", "the dictionary has changed");
    return { imported: 0, created: 0, changed: 0, unchanged: 0 };
  },
} as unknown as ServiceImpl<typeof PhraseService>;

const budget = 3_000;
let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  rpc = await serve([route(PhraseService, phrases)]);
  const writeBudget = { count: budget, windowMs: 86_400_000 };
  gateway = await openGateway({ phrasesTarget: `127.0.0.1:${rpc.port}`, writeBudget });
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await rpc?.[Symbol.asyncDispose]();
});

let tenants = 0;

async function newTenant() {
  const key = await newKey(gateway.access, `keeper${(tenants += 1)}`);
  const importRows = (first: string, rows: number) =>
    fetch(`${gateway.url}/v1/phrases/import`, {
      method: "POST",
      headers: { ...bearer(key), "content-type": "text/csv" },
      body: `language,phrase\n${first},ord\n${"sv,ord\n".repeat(rows - 1)}`,
    });
  /**
   * Imports one row. Returns what is left of the budget when the import is charged as a write,
   * before its row is charged.
   */
  const left = async () => {
    const response = await importRows("sv", 1);
    return Number(/;r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1]);
  };
  return { importRows, left };
}

test("five invalid imports of 50,000 rows leave enough of a budget of 3,000 for a valid one", async () => {
  const { importRows, left } = await newTenant();
  for (let count = 0; count < 5; count += 1) expect((await importRows("invalid", 50_000)).status).toBe(400);
  expect((await importRows("sv", 50_000)).status).toBe(200);
  expect(await left()).toBe(budget - 5 * 51 - 501 - 1);
});

test.for([
  ["refused by validation", 1 + 3, "invalid", 400],
  ["imported", 1 + 21, "sv", 200],
  ["perhaps written in part", 1 + 21, "late", 409],
] as const)("an import of 2,100 rows that is %s costs %i points", async ([, cost, first, status]) => {
  const { importRows, left } = await newTenant();
  expect((await importRows(first, 2_100)).status).toBe(status);
  expect(await left()).toBe(budget - cost - 1);
});
