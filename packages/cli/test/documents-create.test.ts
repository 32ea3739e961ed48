import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openTestGateway, refuse, type TestGateway } from "./support/gateway.ts";
import { run } from "./support/run.ts";

const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const text = `{"id":"${id}", "type":"core/article",  "title":"Å"}`;
let cwd: string;
let gateway: TestGateway;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "vidimus-cli-"));
  await writeFile(join(cwd, "a.json"), text);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));
beforeEach(async () => {
  gateway = await openTestGateway();
});
afterEach(() => gateway[Symbol.asyncDispose]());

const create = (argv: readonly string[] = ["a.json"], stdin = "") =>
  run(["documents", "create", ...argv, "--json", "--gateway", gateway.url, "--key", gateway.key], { cwd, stdin });

test("create sends a document byte for byte", async () => {
  const { code, stdout } = await create();
  expect([code, JSON.parse(stdout)]).toEqual([0, { id, outcome: "created" }]);
  expect(gateway.bodies).toEqual([text]);
});

test("create with the file name - reads standard input", async () => {
  expect(await create(["-"], text)).toMatchObject({ code: 0 });
  expect(gateway.documents.has(id)).toBe(true);
});

test("a document that exists already is an error", async () => {
  await create();
  expect(await create()).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `error: CONFLICT: document ${id} already exists\n`,
  });
});

test("a 409 after a lost answer is no error: an earlier attempt created the document", async () => {
  gateway.scripted.push((response, keep) => {
    keep();
    response.destroy();
  });
  const { code, stdout, pausesMs } = await create();
  expect([code, JSON.parse(stdout)]).toEqual([0, { id, outcome: "existing" }]);
  expect(pausesMs).toEqual([250]);
});

test("a document without an id is not sent again after a lost answer: it could be stored twice", async () => {
  gateway.scripted.push((response) => void response.destroy());
  const { code, stderr } = await create(["-"], '{"version":1,"payload":{"type":"core/tag","title":"T"}}');
  expect([code, stderr]).toEqual([1, expect.stringContaining("cannot reach")]);
  expect(gateway.bodies).toHaveLength(1);
});

function refuseTwice() {
  const headers = { "retry-after": "9" };
  gateway.scripted.push((response) => refuse(response, 429, "RATE_LIMITED", "write budget", { headers }));
  gateway.scripted.push((response) => refuse(response, 503, "UNAVAILABLE", "no database", { headers }));
}

test("a 429 and a 503 are waited out as long as Retry-After says", async () => {
  refuseTwice();
  expect(await create()).toMatchObject({ code: 0, pausesMs: [9_000, 9_000] });
});

test("a long wait is announced on standard error", async () => {
  refuseTwice();
  expect(await create()).toMatchObject({ stderr: "the platform asks to come back in 9 s: waiting\n" });
});

test("a wait longer than --max-wait is an error with the platform's message", async () => {
  const headers = { "retry-after": "9" };
  gateway.scripted.push((response) => refuse(response, 429, "RATE_LIMITED", "the write budget is spent", { headers }));
  expect(await create(["a.json", "--max-wait", "5"])).toMatchObject({
    code: 1,
    pausesMs: [],
    stderr: "error: RATE_LIMITED: the write budget is spent; asked to wait 9 s, which --max-wait does not allow\n",
  });
});

test("the error about a refused document gives the JSON pointer of the fault and what is wrong there", async () => {
  const details = [{ pointer: "/meta/slug", message: "must be a string" }];
  gateway.scripted.push((response) =>
    refuse(response, 400, "INVALID_PAYLOAD", "the document does not hold", { details }),
  );
  const { stderr } = await create();
  expect(stderr).toBe("error: INVALID_PAYLOAD: the document does not hold\n  /meta/slug: must be a string\n");
});

test('a 404 with HTML is an error that says "answered 404 without an error of Vidimus"', async () => {
  gateway.scripted.push((response) => void response.writeHead(404).end("<html>"));
  expect(await create()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("answered 404 without an error of Vidimus"),
  });
});

test("a redirect is an error instead of being followed", async () => {
  gateway.scripted.push((response) => void response.writeHead(307, { location: "/elsewhere" }).end());
  expect((await create(["-"], "{}")).code).toBe(1);
  expect(gateway.bodies).toHaveLength(1);
});

test.each([
  [["gone.json"], "", "gone.json cannot be read"],
  [["."], "", ". cannot be read"],
  [["-"], "{", "- is not JSON"],
])("create %j with standard input %j fails: %s", async (argv, stdin, words) => {
  expect(await create(argv, stdin)).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
});

test("a gateway that cannot be reached is an error after five more attempts", async () => {
  await gateway[Symbol.asyncDispose]();
  const { code, stderr, pausesMs } = await create();
  expect([code, stderr, pausesMs.length]).toEqual([1, expect.stringMatching(/cannot reach .*ECONNREFUSED/), 5]);
});
