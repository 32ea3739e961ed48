import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { partialRoute } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "./support/fake-documents.ts";
import { bearer, newKey, openGateway } from "./support/start-gateway.ts";

/**
 * A dictionary that may change between the question for its revision and the reading of its rows.
 */
const revisions = { asked: "", shown: "" };
const phrases = partialRoute(PhraseService, {
  getDictionaryRevision: ({ language }) => ({ revision: revisions.asked, language }),
  async *listPhrases() {
    for (let part = 0; part < 2; part += 1)
      yield { content: Buffer.from("x".repeat(100_000)), revision: revisions.shown };
  },
});

let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;
let key: string;

beforeAll(async () => {
  rpc = await serve([phrases]);
  gateway = await openGateway({ phrasesTarget: `127.0.0.1:${rpc.port}` });
  key = await newKey(gateway.access, "acme");
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

async function tagOf(method = "GET"): Promise<string | null> {
  const answer = await fetch(`${gateway.url}/v1/phrases`, { method, headers: bearer(key) });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  return answer.headers.get("etag");
}

test.each([
  ["the revision read before them", { asked: "r1", shown: "r1" }, 'W/"r1-all-json"'],
  ["a newer revision than was read before them", { asked: "r1", shown: "r2" }, 'W/"r2-all-json"'],
  ["a revision, with none read before them,", { asked: "", shown: "r2" }, 'W/"r2-all-json"'],
])("an export whose rows are of %s has the tag of their revision", async (_, both, tag) => {
  Object.assign(revisions, both);
  expect(await tagOf()).toBe(tag);
});

test("an export of rows without a revision has no tag", async () => {
  Object.assign(revisions, { asked: "r1", shown: "" });
  expect(await tagOf()).toBeNull();
});

test("HEAD has the tag of the revision that an export reads before its rows", async () => {
  Object.assign(revisions, { asked: "r1", shown: "r2" });
  expect(await tagOf("HEAD")).toBe('W/"r1-all-json"');
});
