import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openTestGateway, refuse, type TestGateway } from "./support/gateway.ts";
import { run } from "./support/run.ts";

let cwd: string;
let gateway: TestGateway;

const own = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const story = {
  uri: "urn:newsml:wire.example:20260105:quake-1",
  type: "text",
  version: "2",
  headlines: [{ value: "Skjelv" }],
};
const storyId = "4bd299d8-31cd-4d7f-8d64-f6f888fbfc40";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "vidimus-cli-"));
  await mkdir(join(cwd, "folder"));
  const files = {
    "story.json": JSON.stringify(story),
    "mixed.json": JSON.stringify([{ uri: "urn:a", type: "event" }, 7, { ...story, version: "3" }, { title: "?" }]),
    "video.json": JSON.stringify({ uri: "urn:v", type: "video" }),
    "broken.json": "{",
    "empty.json": "",
    "own.ndjson": Array.from({ length: 40 }, (_, n) =>
      JSON.stringify({ id: own(n), type: "core/tag", title: `T${n}` }),
    ).join("\n"),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));
beforeEach(async () => {
  gateway = await openTestGateway();
});
afterEach(() => gateway[Symbol.asyncDispose]());

async function importFiles(files: readonly string[], { key = gateway.key, isTTY = false } = {}) {
  const argv = ["documents", "import", ...files, "--json", "--gateway", gateway.url, "--key", key];
  const { stdout, ...rest } = await run(argv, { cwd, isTTY });
  return {
    ...rest,
    report: JSON.parse(stdout) as {
      created: string[];
      existing: string[];
      rejected: { item: string; reason: string }[];
    },
  };
}

test("a ninjs item is created by a first import, and reported as existing by a second", async () => {
  const first = await importFiles(["story.json"]);
  expect(first).toMatchObject({ code: 0, report: { created: [storyId], existing: [], rejected: [] } });
  expect(gateway.documents.get(storyId)).toMatchObject({ type: "core/newswire", title: "Skjelv" });
  const second = await importFiles(["story.json"]);
  expect(second).toMatchObject({ code: 0, report: { created: [], existing: [storyId], rejected: [] } });
});

test("an item of a type that is not imported does not fail the run", async () => {
  const { code, report } = await importFiles(["video.json", "story.json"]);
  expect([code, report.created]).toEqual([0, [storyId]]);
});

test("an item of a type that is not imported is listed with the reason", async () => {
  const { report } = await importFiles(["video.json"]);
  expect(report.rejected).toEqual([
    { item: "video.json (urn:v)", reason: 'is of type "video"; taken are text, composite, picture and audio' },
  ]);
});

const partlyReadable = ["mixed.json", "folder", "broken.json", "gone.json", "empty.json", "story.json"];

test("items and files that cannot be read fail the run, with their number in the error", async () => {
  const { code, stderr } = await importFiles(partlyReadable);
  expect([code, stderr]).toEqual([1, "error: 6 could not be read or delivered\n"]);
});

test("the items around those that cannot be read are imported", async () => {
  const { report } = await importFiles(partlyReadable);
  expect(report.created).toHaveLength(2);
  expect(report.created).toContain(storyId);
});

test("items and files that cannot be imported are listed in their order, with the reasons", async () => {
  const { report } = await importFiles(partlyReadable);
  expect(report.rejected.map(({ item, reason }) => `${item}: ${reason}`)).toEqual([
    'mixed.json[0] (urn:a): is of type "event"; taken are text, composite, picture and audio',
    "mixed.json[1]: is a number, not an object",
    "mixed.json[3]: is neither a document (no id) nor a ninjs item (no uri)",
    "folder: is a folder; name the files in it",
    expect.stringMatching(/^broken.json: is not JSON/),
    expect.stringMatching(/^gone.json: cannot be read: ENOENT/),
    "empty.json: is empty",
  ]);
});

test("an item that the platform refuses fails the run, and is listed with the fault and its JSON pointer", async () => {
  const details = [{ pointer: "/title", message: "is required" }];
  gateway.scripted.push((response) => refuse(response, 400, "INVALID_PAYLOAD", "no", { details }));
  const { code, report } = await importFiles(["story.json"]);
  expect([code, report.rejected]).toEqual([
    1,
    [{ item: `story.json (${story.uri})`, reason: "INVALID_PAYLOAD: no\n  /title: is required" }],
  ]);
});

/** Answers the first eight requests when all eight have arrived, in reverse order. */
function answerEightInReverse() {
  const waiting: (() => void)[] = [];
  for (let n = 0; n < 8; n++) {
    gateway.scripted.push((response, keep) => {
      keep();
      waiting.push(() => response.writeHead(201).end('{"ok":true,"data":{"id":"first"}}'));
      if (waiting.length === 8) for (const answer of waiting.toReversed()) answer();
    });
  }
}

test("documents of NDJSON are imported, at most eight at once", async () => {
  answerEightInReverse();
  const { code } = await importFiles(["own.ndjson"]);
  expect([code, gateway.atOnce.max, gateway.documents.size]).toEqual([0, 8, 40]);
});

test("documents of NDJSON are reported in the file's order, although the answers come in another", async () => {
  answerEightInReverse();
  const { report } = await importFiles(["own.ndjson"]);
  expect(report.created).toEqual(Array.from({ length: 40 }, (_, n) => own(n)));
});

test("a document that was stored although its answer was lost is reported as existing", async () => {
  gateway.scripted.push((response, keep) => {
    keep();
    response.destroy();
  });
  expect((await importFiles(["story.json"])).report).toEqual({ created: [], existing: [storyId], rejected: [] });
  expect([...gateway.documents.keys()]).toEqual([storyId]);
});

test("a refused key ends the run: every other item would be refused, too", async () => {
  const { code, report, stderr } = await importFiles(["own.ndjson"], { key: "vk_wrong" });
  expect(code).toBe(1);
  expect(stderr).toContain("stopped, items are left: UNAUTHORIZED");
  expect(report.rejected.length).toBeLessThanOrEqual(8);
  expect(gateway.bodies.length).toBeLessThanOrEqual(8);
});

test("only a terminal gets a progress bar on standard error", async () => {
  expect((await importFiles(["own.ndjson"], { isTTY: true })).stderr).toContain("100%");
  expect((await importFiles(["own.ndjson"])).stderr).toBe("");
});

test("without --json the rejected items are listed, with the sums below", async () => {
  const argv = ["documents", "import", "video.json", "story.json", "--gateway", gateway.url, "--key", gateway.key];
  const { stdout } = await run(argv, { cwd });
  expect(stdout).toBe(
    'rejected: video.json (urn:v): is of type "video"; taken are text, composite, picture and audio\n1 created, 0 existing, 1 rejected\n',
  );
});
