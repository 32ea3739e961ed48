import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { spawnGateway } from "./support/spawn-gateway.ts";
import { accessClient, bearer, newKey } from "./support/start-gateway.ts";

const documents = new FakeDocuments();
let rpc: Awaited<ReturnType<typeof serve>>;
let gateway: Awaited<ReturnType<typeof spawnGateway>>;

beforeAll(async () => {
  rpc = await serve(documents.routes());
  gateway = await spawnGateway({ LOG_LEVEL: "debug", DOCUMENTS_TARGET: `127.0.0.1:${rpc.port}` });
});

afterAll(async () => {
  await gateway.stop();
  await rpc[Symbol.asyncDispose]();
});

/** Which of the secrets stand in a text. */
const found = (secrets: readonly string[], text: string) => secrets.filter((secret) => text.includes(secret));

test("a full run logs prefixes and request ids, and never a key, a query or a body; a planted secret would be found", async () => {
  const url = `http://127.0.0.1:${gateway.httpPort}/v1/documents`;
  const key = await newKey(accessClient(gateway.grpcPort), "acme");
  const bad = `vk_UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3eyj`;
  const marks = ["TITLE-MARK", "CURSOR-MARK", "QUERY-MARK", "BROKEN-MARK"];
  const post = (token: string, body: string) =>
    fetch(url, { method: "POST", headers: { ...bearer(token), "content-type": "application/json" }, body });
  const body = JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "TITLE-MARK" });
  const answers = [
    await post(key, body),
    await post(key, body),
    await post(bad, body),
    await post(key, `{"BROKEN-MARK`),
    await fetch(`${url}?type=core/tag&cursor=CURSOR-MARK`, { headers: bearer(key) }),
    await fetch(`${url}/lost?x=QUERY-MARK`, { headers: bearer(key) }),
  ];
  documents.listFailure = new Error("a bug");
  answers.push(await fetch(`${url}?type=core/tag`, { headers: bearer(key) }));
  expect(answers.map(({ status }) => status)).toEqual([201, 409, 401, 400, 200, 404, 500]);
  expect(await gateway.stop()).toBe(0);
  const log = gateway.lines.join("\n");
  const secrets = [key.slice(16), bad.slice(16), key, bad, ...marks];
  expect(found(secrets, log)).toEqual([]);
  for (const { headers } of answers) expect(log).toContain(headers.get("x-request-id"));
  for (const code of ["CONFLICT", "UNAUTHORIZED", "INVALID_PAYLOAD", "NOT_FOUND", "INTERNAL"]) {
    expect(log).toContain(`"code":"${code}"`);
  }
  expect(log).toContain('"path":"/v1/documents/lost"');
  expect(log).toContain(`"keyPrefix":"${key.split("_")[1]}"`);
  expect(found(secrets, `${log}\n{"planted":"${key}"}`)).toEqual([key.slice(16), key]);
});
