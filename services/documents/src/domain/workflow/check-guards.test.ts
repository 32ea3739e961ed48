import { describe, expect, test } from "vitest";
import type { Guard } from "./definition.ts";
import { type GuardFacts, checkGuards } from "./check-guards.ts";

function check(guard: Guard, facts: Partial<GuardFacts> = {}): Promise<void> {
  return checkGuards([guard], {
    actor: "ed",
    writer: "wanda",
    everPublished: false,
    now: new Date("2026-11-21T12:00:00Z"),
    meta: {},
    links: [],
    violations: async () => [],
    slugHolder: () => undefined,
    siteFaults: () => [],
    ...facts,
  });
}

describe("publishValid", () => {
  test("refuses with every violation, and passes without any", async () => {
    const violations = [
      { pointer: "/meta/slug", message: "is missing" },
      { pointer: "/content/blocks", message: "is empty" },
    ];
    const refused = check({ kind: "publishValid" }, { violations: async () => violations });
    await expect(refused).rejects.toMatchObject({ kind: "failed_precondition", violations });
    await expect(check({ kind: "publishValid" })).resolves.toBeUndefined();
  });
});

describe("slugFree", () => {
  test("refuses a slug in use, and names the document that has it", async () => {
    await expect(check({ kind: "slugFree" }, { slugHolder: () => "abc" })).rejects.toThrow("published document abc");
    await expect(check({ kind: "slugFree" })).resolves.toBeUndefined();
  });
});

describe("notEmbargoed, at noon UTC of 2026-11-21,", () => {
  test.each([
    ["refuses", "2026-11-21T12:00:00.001Z"],
    ["allows", "2026-11-21T12:00:00Z"],
    ["allows", "2026-11-21T13:00:00+01:00"],
    ["refuses", "2026-11-21T12:00:00-01:00"],
    ["allows", "2026-11-21T12:00:00"],
    ["refuses", "2026-11-21T12:00:01"],
    ["allows", "2026-11-21"],
    ["refuses", "2026-11-22"],
    ["refuses", "tomorrow"],
    ["refuses", 1],
    ["allows", ""],
    ["allows", null],
  ])("%s embargoUntil %j", async (verdict, embargoUntil) => {
    const checked = check({ kind: "notEmbargoed" }, { meta: { embargoUntil } });
    await (verdict === "allows"
      ? expect(checked).resolves.toBeUndefined()
      : expect(checked).rejects.toThrow("embargoUntil"));
  });

  test("allows a version without embargoUntil", async () => {
    await expect(check({ kind: "notEmbargoed" }, { meta: {} })).resolves.toBeUndefined();
  });
});

describe("fourEyes", () => {
  test("refuses the version's writer, but not another actor", async () => {
    await expect(check({ kind: "fourEyes" }, { actor: "wanda" })).rejects.toThrow("wanda wrote this version");
    await expect(check({ kind: "fourEyes" })).resolves.toBeUndefined();
  });

  test("refuses an actor without a name", async () => {
    await expect(check({ kind: "fourEyes" }, { actor: "" })).rejects.toThrow("vidimus-actor");
  });

  test("refuses a version whose writer's name has no visible character", async () => {
    await expect(check({ kind: "fourEyes" }, { writer: " \u200b" })).rejects.toThrow("nobody knows who wrote");
  });

  test.each([
    ["case and spaces", " Wanda ", "wanda"],
    ["case (ß as SS)", "Stra\u00dfe", "STRASSE"],
    ["the composition of a letter", "J\u00fcrgen", "Ju\u0308rgen"],
    ["the width and case of a letter", "\uff29da", "ida"],
    ["a zero-width space", "ida\u200b", "ida"],
    ["invisible characters and case", "\u2060 i\u00adda", "IDA"],
    ["the case of a person's id", "person:0123456789abcdef", "PERSON:0123456789abcdef"],
  ])("takes names that differ only in %s for one person", async (_, actor, writer) => {
    await expect(check({ kind: "fourEyes" }, { actor, writer })).rejects.toThrow(`${writer} wrote this version`);
  });
});

describe("neverPublished", () => {
  test("refuses a document that was published before", async () => {
    await expect(check({ kind: "neverPublished" }, { everPublished: true })).rejects.toThrow("published before");
    await expect(check({ kind: "neverPublished" })).resolves.toBeUndefined();
  });
});

describe("metaPresent", () => {
  test("refuses with a pointer for every key that is missing, null or empty", async () => {
    const guard: Guard = { kind: "metaPresent", keys: ["a", "b", "c", "d", "e", "f", "g/h"] };
    const checked = check(guard, { meta: { a: 0, b: null, c: "", d: [], e: {}, f: { g: null } } });
    const pointers = ["/meta/b", "/meta/c", "/meta/d", "/meta/e", "/meta/g~1h"];
    await expect(checked).rejects.toMatchObject({ violations: pointers.map((pointer) => ({ pointer })) });
  });
});

describe("linkPresent", () => {
  test("refuses a version without a link of the guard's rel", async () => {
    const guard: Guard = { kind: "linkPresent", rel: "source" };
    await expect(check(guard, { links: [{ rel: "subject" }] })).rejects.toThrow('no link "source"');
    await expect(check(guard, { links: [{ rel: "subject" }, { rel: "source" }] })).resolves.toBeUndefined();
  });
});

test("guards are checked in order, and the first that fails is reported", async () => {
  const facts = { everPublished: true, slugHolder: () => "abc" };
  const guards: Guard[] = [{ kind: "fourEyes" }, { kind: "neverPublished" }, { kind: "slugFree" }];
  const checked = checkGuards(guards, {
    actor: "ed",
    writer: "wanda",
    now: new Date(),
    meta: {},
    links: [],
    violations: async () => [],
    siteFaults: () => [],
    ...facts,
  });
  await expect(checked).rejects.toThrow(/^neverPublished/);
});
