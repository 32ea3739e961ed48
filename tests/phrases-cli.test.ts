import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { vidimus } from "./support/vidimus.ts";
import { openDictionary, phrasesOf } from "./support/dictionary.ts";

let stack: Constellation;
let cwd: string;
let demo: ReturnType<typeof openDictionary>;

beforeAll(async () => {
  stack = await openConstellation({ mongoUrl: inject("mongoUrl"), env: { WRITE_BUDGET: "off" } });
  cwd = await mkdtemp(join(tmpdir(), "vidimus-cli-"));
  demo = openDictionary(stack.dev.gateway, stack.dev.tenants[0]!.apiKey);
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true, force: true });
});

function phrases(argv: string[], stdin = "") {
  const { gateway, tenants } = stack.dev;
  return vidimus(["phrases", ...argv, "--gateway", gateway, "--key", tenants[0]!.apiKey], {
    cwd,
    stdin,
    sleep: async (ms) => expect.unreachable(`nothing is to be waited for, not even ${ms} ms`),
  });
}

const file = (name: string, content: string | Buffer) => writeFile(join(cwd, name), content);

test("put, export, delete", async () => {
  const put = await phrases([
    "put",
    "Försvarsmakten",
    "--language",
    "sv",
    "--mistake",
    "Forsvarsmakten",
    "--mistake",
    "FM",
    "--json",
  ]);
  const phrase = JSON.parse(put.stdout) as { id: string };
  expect(phrase).toMatchObject({ phrase: "Försvarsmakten", commonMistakes: ["Forsvarsmakten", "FM"] });
  expect((await phrases(["export", "--language", "sv", "--format", "json"])).stdout).toBe(
    JSON.stringify({ phrases: [phrase] }),
  );
  expect(await phrases(["delete", phrase.id])).toMatchObject({ code: 0, stdout: `${phrase.id} is deleted\n` });
  expect(await phrases(["delete", phrase.id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("NOT_FOUND") as string,
  });
});

test("word lists, a hunspell dictionary in its own encoding, and standard input are imported with a language", async () => {
  await file("words", "kött\r\nmjölk\n");
  await file("nb_NO.dic", Buffer.from("2\nøy/AB\nfjord\n", "latin1"));
  await file("nb_NO.aff", "SET ISO8859-1\n");
  expect(await phrases(["import", "words", "--language", "da"])).toMatchObject({ code: 0, stdout: "2 imported\n" });
  expect(await phrases(["import", "nb_NO.dic", "--language", "nb-NO"])).toMatchObject({ code: 0 });
  expect(await phrases(["import", "-", "--language", "fi"], "yö\n")).toMatchObject({ code: 0 });
  const kept = await Promise.all(["da", "nb-NO", "fi"].map((language) => phrasesOf(demo.get(`?language=${language}`))));
  expect(kept.map((list) => list.map(({ phrase }) => phrase))).toEqual([["kött", "mjölk"], ["fjord", "øy"], ["yö"]]);
  expect(await phrases(["import", "words"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--language") as string,
  });
  await file("latin1", Buffer.from("k\xf6tt\n", "latin1"));
  expect(await phrases(["import", "latin1", "--language", "sv"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--encoding") as string,
  });
});

test("a hunspell dictionary: forbidden words stay forbidden; comments, fragments and stems are left out and counted", async () => {
  const words = ["Straße/S", "straße/So", "Ährenamt/dS", "Absicherungs/hij", "km\\/h", "Haus/S", "Haus/P", "Haus/S"];
  await file("de.dic", ["9", "\tDies ist ein Kommentar, CC-BY", "# noch einer", "", ...words].join("\n"));
  await file("de.aff", "SET UTF-8\nFORBIDDENWORD d\nONLYINCOMPOUND o\nNEEDAFFIX h\nCOMPOUNDBEGIN x\n");
  const run = await phrases(["import", "de.dic", "--language", "de-AT", "--json"]);
  expect(run).toMatchObject({ code: 0 });
  const kept = await phrasesOf(demo.get("?language=de-AT"));
  expect(kept.map(({ phrase, forbidden }) => [phrase, forbidden])).toEqual([
    ["Haus", false],
    ["Straße", false],
    ["km/h", false],
    ["Ährenamt", true],
  ]);
  expect(JSON.parse(run.stdout)).toEqual({
    imported: 4,
    created: 4,
    changed: 0,
    unchanged: 0,
    leftOut: { comments: 2, fragments: 1, stems: 1, duplicates: 2 },
  });
});

test("a file too large for one request is split, and exported unchanged", async () => {
  const words = Array.from({ length: 60_000 }, (_, n) => `wort ${n}`);
  await file("wörter.txt", words.join("\n"));
  const run = await phrases(["import", "wörter.txt", "--language", "de"]);
  expect(run).toMatchObject({ code: 0, stdout: "60000 imported\n" });
  expect(await phrases(["export", "--language", "de", "--output", "de.csv"])).toMatchObject({ code: 0 });
  const exported = await readFile(join(cwd, "de.csv"), "utf8");
  expect(exported).toBe(await (await demo.get("?language=de&format=csv")).text());
  expect(exported.match(/,wort \d+,/g)).toHaveLength(60_000);
  expect(await phrases(["import", "de.csv"])).toMatchObject({ code: 0, stdout: "60000 imported\n" });
  expect(await (await demo.get("?language=de&format=csv")).text()).toBe(exported);
});

test("a refused file is reported by its own lines, with the number of rows imported before", async () => {
  const rows = Array.from({ length: 50_001 }, (_, n) => `is,${n === 20_500 ? "" : `orð ${n}`}`);
  await file("is.csv", ["language,phrase", ...rows].join("\n"));
  const run = await phrases(["import", "is.csv"]);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain("is.csv: nothing was imported");
  expect(run.stderr).toContain("line 20502: phrase is required");
  expect(run.stderr).toContain("20000 rows before were imported");
});

test("an export that fails leaves no file", async () => {
  expect(await phrases(["export", "--language", "sv_SE", "--output", "x.csv"])).toMatchObject({ code: 1 });
  expect((await readdir(cwd)).filter((name) => name.startsWith("x.csv"))).toEqual([]);
});
