import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestPages } from "./support/pages.ts";
import { run } from "./support/run.ts";

/** No server listens on port 2. It is not port 1, which fetch refuses without connecting. */
const gateway = "http://127.0.0.1:2";
const grpc = { access: "127.0.0.1:2", documents: "127.0.0.1:2", phrases: "127.0.0.1:2", delivery: "127.0.0.1:2" };
const tenants = [{ id: "demo", apiKey: "vk_demo" }];
const id = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "vidimus-stopped-"));
  await writeFile(join(cwd, "feed.ndjson"), `{"id":"${id}","type":"core/tag","title":"T"}\n`.repeat(20));
  await keep({ gateway });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

async function keep(more: object): Promise<void> {
  await mkdir(join(cwd, ".vidimus"), { recursive: true });
  await writeFile(join(cwd, ".vidimus", "dev.json"), JSON.stringify({ gateway, grpc, tenants, ...more }), {
    mode: 0o600,
  });
}

const stopped = (what: string) =>
  `error: ${what} does not answer: the dev stack of ${join(cwd, ".vidimus", "dev.json")} is not running. ` +
  "Start it with `npm start`.\n";

test.each([
  ["documents list", "the documents service at 127.0.0.1:2"],
  ["documents publish ID", "the documents service at 127.0.0.1:2"],
  ["endpoints create --url http://a.example/", "the delivery service at 127.0.0.1:2"],
  ["keys list", "the access service at 127.0.0.1:2"],
  ["phrases delete ID", "the gateway at http://127.0.0.1:2"],
  ["phrases export", "the gateway at http://127.0.0.1:2"],
])("with a stopped stack, %s fails with one message and no pause", async (words, what) => {
  expect(await run(words.replace("ID", id).split(" "), { cwd })).toEqual({
    code: 1,
    stdout: "",
    stderr: stopped(what),
    pausesMs: [],
  });
});

test("publish of several documents has one message about the stopped stack", async () => {
  const ids = [id, "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e11"];
  const { stderr } = await run(["documents", "publish", ...ids], { cwd });
  expect(stderr).toBe(stopped("the documents service at 127.0.0.1:2"));
});

test("a documents import says only once that the stopped stack does not answer", async () => {
  const { code, stdout, stderr } = await run(["documents", "import", "feed.ndjson"], { cwd });
  expect([code, `${stdout}${stderr}`.match(/does not answer/g)?.length]).toEqual([1, 1]);
});

test("a documents import ended by a stopped stack lists items under way as not sent", async () => {
  const { stdout } = await run(["documents", "import", "feed.ndjson"], { cwd });
  expect(stdout).toMatch(/^(not sent: feed\.ndjson.*\n)+0 created, 0 existing, \d rejected\n$/);
});

test("doctor finds only that the dev stack is stopped", async () => {
  const { code, stdout } = await run(["doctor", "--json"], { cwd });
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    {
      broken: 1,
      warnings: 0,
      unchecked: 0,
      findings: [
        {
          check: "dev stack",
          status: "broken",
          finding: expect.stringMatching(/does not answer: the dev stack of .* is not running$/),
          remedy: expect.stringContaining("npm start"),
        },
      ],
    },
  ]);
});

test("a stack of which one part listens is not reported as stopped", async () => {
  await using listening = await openTestPages({});
  await keep({ gateway: listening.url });
  const away = await run(["documents", "list"], { cwd });
  expect(away).toMatchObject({
    code: 1,
    stderr: "error: the documents service at 127.0.0.1:2 cannot be reached: connection refused (ECONNREFUSED)\n",
  });
  await keep({ gateway });
});

test("a gateway of --gateway that does not answer is not reported as a stopped stack", async () => {
  const own = await run(["phrases", "delete", id, "--gateway", "http://127.0.0.1:2", "--max-wait", "0"], { cwd });
  expect(own.stderr).toBe(
    `error: cannot reach http://127.0.0.1:2/v1/phrases/${id}: connection refused (ECONNREFUSED)\n`,
  );
});
