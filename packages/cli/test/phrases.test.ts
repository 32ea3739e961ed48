import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { portOf } from "@vidimus/kit/port";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const stored = { id: "p1", language: "sv", phrase: "lunch", commonMistakes: ["lonch"] };
const success = { status: 200, body: JSON.stringify({ ok: true, data: { phrase: stored } }) };
let reply = success;
/** Method, path and body of each request. */
const requests: unknown[] = [];
const gateway = createServer((request, response) => void answer(request, response));
let services: Awaited<ReturnType<typeof openTestServices>>;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  requests.push([request.method, request.url, JSON.parse(await text(request))]);
  response.writeHead(reply.status, { "content-type": "application/json" });
  response.end(reply.body);
}

beforeAll(async () => {
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const phraseJson = Buffer.from(JSON.stringify(stored));
  const getPhrase = ({ tenantId, phraseId }: { tenantId: string; phraseId: string }) => {
    requests.push([tenantId, phraseId]);
    return { phraseJson };
  };
  services = await openTestServices(route(PhraseService, { getPhrase }));
});
afterAll(async () => {
  gateway.close();
  await services[Symbol.asyncDispose]();
});

const address = () => `http://127.0.0.1:${portOf(gateway.address())}`;
const put = (...argv: string[]) => {
  requests.splice(0);
  return run(["phrases", "put", ...argv, "--language", "sv", "--gateway", address(), "--key", "vk_test"]);
};

test("put prints the stored phrase", async () => {
  expect(await put("lunch")).toMatchObject({ code: 0, stdout: "p1  sv  lunch\n" });
  expect(JSON.parse((await put("lunch", "--json")).stdout)).toEqual(stored);
});

test("put sends a phrase with every --mistake that is given", async () => {
  await put("lunch", "--mistake", "lonch", "--mistake", "lunsh", "--description", "meal");
  const phrase = { language: "sv", phrase: "lunch", description: "meal", commonMistakes: ["lonch", "lunsh"] };
  expect(requests).toEqual([["PUT", "/v1/phrases", { ...phrase, caseSensitive: false, forbidden: false }]]);
});

test("put --id sends a whole phrase, with defaults for the options that are left out", async () => {
  await put("Lunch", "--id", "p1", "--case-sensitive", "--forbidden");
  const phrase = { id: "p1", language: "sv", phrase: "Lunch", commonMistakes: [] };
  expect(requests).toEqual([["PUT", "/v1/phrases", { ...phrase, caseSensitive: true, forbidden: true }]]);
});

test.for([200, 400])(
  "put and import fail on a proxy's HTML page of status %i, and the message names the status",
  async (status) => {
    reply = { status, body: "<h1>proxy</h1>" };
    const failed = { code: 1, stderr: expect.stringContaining(`answered ${status} without an error of Vidimus`) };
    expect(await put("lunch")).toMatchObject(failed);
    const rows = JSON.stringify([{ language: "sv", phrase: "lunch" }]);
    const argv = ["phrases", "import", "-", "--format", "json", "--gateway", address(), "--key", "vk_test"];
    expect(await run(argv, { stdin: rows })).toMatchObject(failed);
    reply = success;
  },
);

test("show prints a phrase of the tenant as JSON with all its fields", async () => {
  requests.splice(0);
  const { code, stdout } = await run(["phrases", "show", "p1", "--tenant", "demo", "--phrases", services.target]);
  expect([code, JSON.parse(stdout)]).toEqual([0, stored]);
  expect(requests).toEqual([["demo", "p1"]]);
});
