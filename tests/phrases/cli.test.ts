import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { vidimus } from "../support/vidimus.ts";
import { openDictionary, phrasesOf } from "../support/dictionary.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

let stack: SharedConstellation;
let cwd: string;
let demo: ReturnType<typeof openDictionary>;

beforeAll(async () => {
  stack = await sharedConstellation();
  cwd = await mkdtemp(join(tmpdir(), "vidimus-cli-"));
  await mkdir(join(cwd, ".vidimus"));
  await writeFile(join(cwd, ".vidimus", "dev.json"), JSON.stringify(stack.dev), { mode: 0o600 });
  demo = openDictionary(stack.dev.gateway, stack.dev.tenants[0]!.apiKey);
});

afterAll(async () => {
  await rm(cwd, { recursive: true, force: true });
});

function phrases(argv: string[], stdin = "") {
  return vidimus(["phrases", ...argv], {
    cwd,
    stdin,
    sleep: async (ms) => expect.unreachable(`nothing is to be waited for, not even ${ms} ms`),
  });
}

const file = (name: string, content: string | Buffer) => writeFile(join(cwd, name), content);

test("a phrase is put, exported, shown, listed and deleted, after which it is not found", async () => {
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
  expect(JSON.parse((await phrases(["show", phrase.id, "--json"])).stdout)).toEqual(phrase);
  const found = await phrases(["list", "--contains", "MAKTEN", "--language", "sv", "--json"]);
  expect(JSON.parse(found.stdout)).toEqual([phrase]);
  expect((await phrases(["list", "--contains", "forsvars"])).stdout).toBe("none\n");
  expect(await phrases(["delete", phrase.id])).toMatchObject({ code: 0, stdout: `${phrase.id} is deleted\n` });
  expect(await phrases(["delete", phrase.id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("NOT_FOUND") as string,
  });
});

test("a word list, a hunspell dictionary and standard input are imported in the given language", async () => {
  await file("words", "kött\r\nmjölk\n");
  await file("nb_NO.dic", Buffer.from("2\nøy/AB\nfjord\n", "latin1"));
  await file("nb_NO.aff", "SET ISO8859-1\n");
  expect(await phrases(["import", "words", "--language", "da"])).toMatchObject({
    code: 0,
    stdout: "2 imported: 2 created, 0 changed, 0 unchanged\n",
  });
  expect(await phrases(["import", "nb_NO.dic", "--language", "nb-NO"])).toMatchObject({ code: 0 });
  expect(await phrases(["import", "-", "--language", "fi"], "yö\n")).toMatchObject({ code: 0 });
  const kept = await Promise.all(["da", "nb-NO", "fi"].map((language) => phrasesOf(demo.get(`?language=${language}`))));
  expect(kept.map((list) => list.map(({ phrase }) => phrase))).toEqual([["kött", "mjölk"], ["fjord", "øy"], ["yö"]]);
});

test("an import of a file that is not UTF-8 is refused, and the message names --encoding", async () => {
  await file("latin1", Buffer.from("k\xf6tt\n", "latin1"));
  expect(await phrases(["import", "latin1", "--language", "sv"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--encoding") as string,
  });
});

test("a forbidden word of a hunspell dictionary is imported as forbidden", async () => {
  await file("de_CH.dic", "2\nÄhrenamt/dS\nHaus/S\n");
  await file("de_CH.aff", "SET UTF-8\nFORBIDDENWORD d\n");
  expect(await phrases(["import", "de_CH.dic", "--language", "de-CH"])).toMatchObject({ code: 0 });
  const kept = await phrasesOf(demo.get("?language=de-CH"));
  expect(kept.map(({ phrase, forbidden }) => [phrase, forbidden])).toEqual([
    ["Haus", false],
    ["Ährenamt", true],
  ]);
});

test("comments, fragments, stems and duplicates of a hunspell dictionary are left out and counted", async () => {
  const words = ["Straße/S", "straße/So", "Absicherungs/hij", "km\\/h", "Haus/S", "Haus/P", "Haus/S"];
  await file("de.dic", ["8", "\tDies ist ein Kommentar, CC-BY", "# noch einer", "", ...words].join("\n"));
  await file("de.aff", "SET UTF-8\nONLYINCOMPOUND o\nNEEDAFFIX h\nCOMPOUNDBEGIN x\n");
  const run = await phrases(["import", "de.dic", "--language", "de-AT", "--json"]);
  expect(run).toMatchObject({ code: 0 });
  const kept = await phrasesOf(demo.get("?language=de-AT"));
  expect(kept.map(({ phrase }) => phrase)).toEqual(["Haus", "Straße", "km/h"]);
  expect(JSON.parse(run.stdout)).toEqual({
    imported: 3,
    created: 3,
    changed: 0,
    unchanged: 0,
    leftOut: { comments: 2, fragments: 1, stems: 1, duplicates: 2 },
  });
});

test("60,000 rows, too many for one request, are imported, exported and imported again unchanged", async () => {
  const words = Array.from({ length: 60_000 }, (_, n) => `wort ${n}`);
  await file("wörter.txt", words.join("\n"));
  const run = await phrases(["import", "wörter.txt", "--language", "de"]);
  expect(run).toMatchObject({ code: 0, stdout: "60000 imported: 60000 created, 0 changed, 0 unchanged\n" });
  expect(await phrases(["export", "--language", "de", "--output", "de.csv"])).toMatchObject({ code: 0 });
  const exported = await readFile(join(cwd, "de.csv"), "utf8");
  expect(exported).toBe(await (await demo.get("?language=de&format=csv")).text());
  expect(exported.match(/,wort \d+,/g)).toHaveLength(60_000);
  const again = "60000 imported: 0 created, 0 changed, 60000 unchanged\n";
  expect(await phrases(["import", "de.csv"])).toMatchObject({ code: 0, stdout: again });
  expect(await (await demo.get("?language=de&format=csv")).text()).toBe(exported);
});

test("a refused row is reported by its line in the file, with the number of rows imported before", async () => {
  const rows = Array.from({ length: 50_001 }, (_, n) => `is,${n === 20_500 ? "" : `orð ${n}`}`);
  await file("is.csv", ["language,phrase", ...rows].join("\n"));
  const run = await phrases(["import", "is.csv"]);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain("is.csv: nothing more was imported: 1 of 10000 rows is invalid");
  expect(run.stderr).toContain("line 20502: phrase is required");
  expect(run.stderr).toContain("20000 rows before were imported");
});

test("import --replace previews its changes to a language, and makes them only with --yes", async () => {
  const kept = async (language: string) =>
    (await phrasesOf(demo.get(`?language=${language}`))).map(({ phrase, description }) => phrase + description);
  await file("cs.csv", "sep=;\r\nlanguage;phrase;description\r\ncs;bleibt;\r\ncs;geht;\r\ncs;ändert sich;\r\n");
  await file("sk.csv", "language,phrase\nsk,geht\n");
  expect(await phrases(["import", "cs.csv", "sk.csv"])).toMatchObject({ code: 0 });
  await file("neu.csv", "language,phrase,description\ncs,bleibt,\ncs,ändert sich,!\nCS,neu,\ncs,neu,\n");
  const replace = (...argv: string[]) => phrases(["import", "neu.csv", "--replace", "--language", "cs", ...argv]);

  const preview = await replace("--json");
  const counts = { imported: 4, created: 1, changed: 1, unchanged: 1, deleted: 1 };
  expect(JSON.parse(preview.stdout)).toMatchObject({ ...counts, dryRun: true });
  expect((await replace()).stdout).toMatch(/1 deleted\nnothing was written: --yes does it\n$/);
  expect(await kept("cs")).toEqual(["bleibt", "geht", "ändert sich"]);

  expect(JSON.parse((await replace("--json", "--yes")).stdout)).toMatchObject({ ...counts, dryRun: false });
  expect(await kept("cs")).toEqual(["bleibt", "neu", "ändert sich!"]);
  expect(await kept("sk")).toEqual(["geht"]);
  expect(JSON.parse((await replace("--json", "--yes")).stdout)).toMatchObject({ unchanged: 3, deleted: 0 });
});

test.for([
  ["invalid", `hr,${"å".repeat(257)}`, "phrase must have at most 256 characters"],
  ["of another language", "sr,riječ", "language must be hr"],
] as const)("import --replace of 50,001 rows writes nothing when the last row is %s", async ([, last, fault]) => {
  await demo.put({ language: "hr", phrase: "bleibt" });
  const rows = Array.from({ length: 50_000 }, (_, n) => `hr,riječ ${n}`);
  await file("hr.csv", ["language,phrase", ...rows, last].join("\n"));
  const run = await phrases(["import", "hr.csv", "--replace", "--language", "hr", "--yes"]);
  expect(run.code).toBe(1);
  expect(run.stderr).toContain(`line 50002: ${fault}`);
  expect((await phrasesOf(demo.get("?language=hr"))).map(({ phrase }) => phrase)).toEqual(["bleibt"]);
});

test.for([
  ["import of a word list", "without --language", ["import", "et.txt"], "--language"],
  ["import --replace", "without --language", ["import", "et.csv", "--replace"], "pass --language"],
  ["import --yes", "without --replace", ["import", "et.csv", "--yes"], "--yes is for --replace"],
  ["delete", "without an id or a language", ["delete"], "pass an id, or --language"],
] as const)("%s is refused %s", async ([, , argv, message]) => {
  await file("et.csv", "language,phrase\net,sõna\n");
  await file("et.txt", "sõna\n");
  expect(await phrases([...argv])).toMatchObject({ code: 1, stderr: expect.stringContaining(message) as string });
});

test("the phrases of a language are deleted only with --yes", async () => {
  for (const phrase of ["a", "b"]) await demo.put({ language: "mt", phrase });
  const remove = (...argv: string[]) => phrases(["delete", "--language", "mt", ...argv]);
  expect((await remove()).stdout).toBe("2 phrases would be deleted: --yes does it\n");
  expect(await phrasesOf(demo.get("?language=mt"))).toHaveLength(2);
  expect((await remove("--yes", "--json")).stdout).toBe('{"language":"mt","deleted":2,"dryRun":false}\n');
  expect(await phrasesOf(demo.get("?language=mt"))).toEqual([]);
});

test("a refused export leaves no file", async () => {
  expect(await phrases(["export", "--language", "sv_SE", "--output", "x.csv"])).toMatchObject({ code: 1 });
  expect((await readdir(cwd)).filter((name) => name.startsWith("x.csv"))).toEqual([]);
});
