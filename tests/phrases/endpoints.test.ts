/** Sections 4.4 to 4.7 of the public contract: GET, PUT, import and DELETE of phrases. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDictionary, phraseColumns, type PhraseJson, phrasesOf } from "../support/dictionary.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";
import type { Newsroom } from "../support/newsroom.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";

let stack: SharedConstellation;
let demo: ReturnType<typeof openDictionary>;
let rival: ReturnType<typeof openDictionary>;
let tenants: Tenants;
let room: Newsroom;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
  demo = openDictionary(stack.dev.gateway, room.apiKey);
  rival = openDictionary(stack.dev.gateway, (await tenants.create()).apiKey);
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

/** A new language for each test, so that tests do not see each other's phrases. */
let languages = 0;
const freshLanguage = () => `sv-abcde${String((languages += 1)).padStart(3, "0")}`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function refusal(response: Promise<Response> | Response) {
  const { status, headers } = await response;
  const body = (await (await response).json()) as {
    ok: boolean;
    error: { code: string; message: string; details?: object[] };
  };
  expect(body.ok).toBe(false);
  expect(headers.get("cache-control")).toBe("no-store");
  return { status, ...body.error };
}

describe("GET /v1/phrases", () => {
  test("200: the phrases of a language in the envelope, with all members, ordered by their text", async () => {
    const language = freshLanguage();
    for (const phrase of ["å", "Z", "a"]) await demo.put({ language, phrase, commonMistakes: ["x"], description: "d" });
    const response = await demo.get(`?language=${language}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    const body = (await response.json()) as { ok: true; data: { phrases: PhraseJson[] } };
    expect(Object.keys(body)).toEqual(["ok", "data"]);
    expect(Object.keys(body.data)).toEqual(["phrases"]);
    expect(body.data.phrases.map(({ phrase }) => phrase)).toEqual(["Z", "a", "å"]);
    expect(body.data.phrases[0]).toEqual({
      id: expect.stringMatching(uuid) as string,
      language,
      phrase: "Z",
      caseSensitive: false,
      forbidden: false,
      commonMistakes: ["x"],
      description: "d",
      createdAt: expect.stringMatching(instant) as string,
      updatedAt: expect.stringMatching(instant) as string,
    });
  });

  test("200 format=csv: a CSV file to download, with a header, quoted cells and CRLF", async () => {
    const language = freshLanguage();
    const { id, createdAt, updatedAt } = await demo.put({
      language,
      phrase: 'sa "hej", hon',
      commonMistakes: ["a", "b"],
    });
    const response = await demo.get(`?format=csv&language=${language}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="phrases.csv"');
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).toBe(
      `${phraseColumns}\r\n${id},${language},"sa ""hej"", hon",false,false,a|b,,${createdAt},${updatedAt}\r\n`,
    );
  });

  test("200 for a language without phrases: an empty list, or the header of a CSV alone", async () => {
    const [json, csv] = [await demo.get("?language=tlh"), await demo.get("?language=tlh&format=csv")];
    expect([json.status, csv.status]).toEqual([200, 200]);
    expect(await json.json()).toEqual({ ok: true, data: { phrases: [] } });
    expect(await csv.text()).toBe(`${phraseColumns}\r\n`);
  });

  test("language is compared without case", async () => {
    const mine = freshLanguage();
    await demo.put({ language: mine.toUpperCase(), phrase: "p" });
    for (const language of [mine, mine.toUpperCase()])
      expect(await phrasesOf(demo.get(`?language=${language}`))).toHaveLength(1);
  });

  test("a list of one language has no phrase of a longer tag or of an alias of the language", async () => {
    const mine = freshLanguage();
    await demo.put({ language: mine, phrase: "p" });
    expect((await phrasesOf(demo.get("?language=sv"))).filter(({ language }) => language === mine)).toEqual([]);
    const [iw, he] = [await demo.put({ language: "IW", phrase: "p" }), await demo.put({ language: "he", phrase: "p" })];
    expect(iw.id).not.toBe(he.id);
    expect(await phrasesOf(demo.get("?language=iw"))).toEqual([{ ...iw, language: "iw" }]);
  });

  test("a request without language lists the phrases of several languages", async () => {
    const [one, two] = [freshLanguage(), freshLanguage()];
    await demo.put({ language: one, phrase: "p" });
    await demo.put({ language: two, phrase: "p" });
    const listed = (await phrasesOf(demo.get())).map(({ language }) => language);
    expect(listed).toEqual(expect.arrayContaining([one, two]));
  });

  test("another tenant's phrases are not listed", async () => {
    const language = freshLanguage();
    await demo.put({ language, phrase: "p" });
    expect((await phrasesOf(rival.get())).map((each) => each.language)).not.toContain(language);
    expect(await phrasesOf(rival.get(`?language=${language}`))).toEqual([]);
  });

  const tagOf = async (query: string) => (await demo.get(query)).headers.get("etag")!;
  const queriesFor = (language: string) => [
    `?language=${language}`,
    `?language=${language}&format=csv`,
    "?format=json",
    "?format=csv",
  ];

  test("lists of one language and of all languages have an ETag of their own in each format", async () => {
    const language = freshLanguage();
    await demo.put({ language, phrase: "p" });
    const held = await Promise.all(queriesFor(language).map(tagOf));
    expect(new Set(held).size).toBe(4);
    expect(held.every((tag) => tag.startsWith('W/"'))).toBe(true);
  });

  test("304 to the ETag of a list until one of its phrases is changed or deleted", async () => {
    const language = freshLanguage();
    const phrase = await demo.put({ language, phrase: "p" });
    const queries = queriesFor(language);
    const held = await Promise.all(queries.map(tagOf));
    const again = (n: number) => demo.get(queries[n], { "if-none-match": `"other", ${held[n]!}` });
    for (const [n] of queries.entries()) {
      const response = await again(n);
      expect(response.status).toBe(304);
      expect(await response.text()).toBe("");
      expect(response.headers.get("etag")).toBe(held[n]);
    }
    await demo.put(phrase);
    expect((await again(0)).status).toBe(304);
    await demo.put({ ...phrase, forbidden: true });
    expect((await again(0)).status).toBe(200);
    const last = await tagOf(queries[0]!);
    expect((await demo.delete(phrase.id)).status).toBe(200);
    expect((await demo.get(queries[0], { "if-none-match": last })).status).toBe(200);
  });

  test("HEAD answers the Content-Type and ETag of GET without its body", async () => {
    const response = await demo.get("?format=csv", {}, "HEAD");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("etag")).toBe((await demo.get("?format=csv")).headers.get("etag"));
    expect(await response.text()).toBe("");
  });

  test("an export in gzip has the same content as a plain one", async () => {
    await demo.put({ language: freshLanguage(), phrase: "p", description: "worth compressing ".repeat(55) });
    const [plain, packed] = await Promise.all(
      ["identity", "gzip"].map((encoding) => demo.get("?format=csv", { "accept-encoding": encoding })),
    );
    expect(packed!.headers.get("content-encoding")).toBe("gzip");
    expect(await packed!.text()).toBe(await plain!.text());
  });

  test.for([
    ["language=sv_SE", "sv-SE"],
    ["language=swedish", "language"],
    ["language=", "language"],
    ["language=sv&language=en", "language"],
    ["format=xml", "format"],
    ["format=CSV", "format"],
    ["lang=sv", "lang"],
  ])("400 INVALID_QUERY for ?%s", async ([query, named]) => {
    const { status, code, message } = await refusal(demo.get(`?${query}`));
    expect([status, code]).toEqual([400, "INVALID_QUERY"]);
    expect(message).toContain(named);
  });
});

describe("PUT /v1/phrases", () => {
  test("200: the answer is the phrase as GET shows it", async () => {
    const language = freshLanguage();
    const response = await demo.send("PUT", "", JSON.stringify({ language, phrase: "kött", description: "x" }));
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { data } = (await response.json()) as { data: { phrase: PhraseJson } };
    expect(Object.keys(data)).toEqual(["phrase"]);
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([data.phrase]);
  });

  test("200: the same text again keeps id and time of creation, and replaces the rest", async () => {
    const language = freshLanguage();
    const switches = { caseSensitive: true, forbidden: false };
    const first = await demo.put({ language, phrase: "kött", ...switches, commonMistakes: ["q"], description: "x" });
    const again = await demo.put({ language, phrase: "ko\u0308tt", forbidden: true });
    expect(again).toMatchObject({
      id: first.id,
      phrase: "kött",
      description: "",
      caseSensitive: false,
      forbidden: true,
      commonMistakes: [],
      createdAt: first.createdAt,
    });
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([again]);
  });

  test("200: a phrase as PUT answered it is accepted again", async () => {
    const phrase = await demo.put({ language: freshLanguage(), phrase: "p" });
    expect(await demo.put(phrase)).toEqual(phrase);
  });

  test("200: a tenant that a phrase names is ignored", async () => {
    const phrase = await demo.put({ language: freshLanguage(), phrase: "p" });
    expect(await demo.put({ ...phrase, tenant: "rival", tenantId: "rival", tenant_id: "rival" })).toEqual(phrase);
    expect((await phrasesOf(rival.get())).some(({ id }) => id === phrase.id)).toBe(false);
  });

  test("409 CONFLICT without a change when the id belongs to one phrase and the text to another", async () => {
    const language = freshLanguage();
    const a = await demo.put({ language, phrase: "a" });
    const b = await demo.put({ language, phrase: "b" });
    const body = JSON.stringify({ id: a.id, language, phrase: "b" });
    const { status, code } = await refusal(demo.send("PUT", "", body));
    expect([status, code]).toEqual([409, "CONFLICT"]);
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([a, b]);
  });

  test.for([
    ["not JSON", "{", ""],
    ["no body", "", ""],
    ["an array", "[]", ""],
    ["null", "null", ""],
    ["no phrase", '{"language":"sv"}', "/phrase"],
    ["a blank phrase", '{"language":"sv","phrase":" \u00a0 "}', "/phrase"],
    ["a phrase that is a number", '{"language":"sv","phrase":5}', "/phrase"],
    ["a lone surrogate", String.raw`{"language":"sv","phrase":"\ud800"}`, "/phrase"],
    ["no language", '{"phrase":"p"}', "/language"],
    ["a malformed language", '{"language":"sv_SE","phrase":"p"}', "/language"],
    ["an unknown member", '{"language":"sv","phrase":"p","lang":"sv"}', "/lang"],
    ["__proto__", '{"language":"sv","phrase":"p","__proto__":{}}', "/__proto__"],
    ["an id that is no UUID", '{"id":"1","language":"sv","phrase":"p"}', "/id"],
    ["a null id", '{"id":null,"language":"sv","phrase":"p"}', "/id"],
    ["a boolean in quotes", '{"language":"sv","phrase":"p","forbidden":"true"}', "/forbidden"],
    ["mistakes that are a string", '{"language":"sv","phrase":"p","commonMistakes":"q"}', "/commonMistakes"],
    ["a mistake with |", '{"language":"sv","phrase":"p","commonMistakes":["q|r"]}', "/commonMistakes/0"],
    [
      "a description with a line break",
      String.raw`{"language":"sv","phrase":"p","description":"a\nb"}`,
      "/description",
    ],
  ])("400 INVALID_PAYLOAD for %s, with a pointer to the faulty member, if any", async ([, body, pointer]) => {
    const { status, code, details = [] } = await refusal(demo.send("PUT", "", body));
    expect([status, code]).toEqual([400, "INVALID_PAYLOAD"]);
    if (pointer !== "") expect(details).toContainEqual(expect.objectContaining({ pointer }));
  });

  test("413 for a body of more than 1 MiB", async () => {
    expect(await refusal(demo.send("PUT", "", " ".repeat(1024 * 1024 + 1)))).toMatchObject({ status: 413 });
  });
});

describe("POST /v1/phrases/import", () => {
  const imports = (body: string, type = "application/json") => demo.send("POST", "/import", body, type);

  test.for(["a JSON object", "a JSON array", "CSV", "CSV with BOM and LF"])(
    "200: all rows of %s are counted, and the last of each text is kept",
    async (form) => {
      const language = freshLanguage();
      const phrases = ["a", "b", "a"].map((phrase, n) => ({ language, phrase, description: `${n}` }));
      const csv = (eol: string) =>
        ["phrase,description,language", ...phrases.map((p) => `${p.phrase},${p.description},${language}`)].join(eol);
      const response = await {
        "a JSON object": () => imports(JSON.stringify({ phrases })),
        "a JSON array": () => imports(JSON.stringify(phrases)),
        CSV: () => imports(csv("\r\n"), "text/csv; charset=utf-8"),
        "CSV with BOM and LF": () => imports(`\ufeff${csv("\n")}\n\n`, "text/csv"),
      }[form]!();
      expect(await response.json()).toEqual({ ok: true, data: { imported: 3, created: 2, changed: 0, unchanged: 0 } });
      expect(response.status).toBe(200);
      const kept = await phrasesOf(demo.get(`?language=${language}`));
      expect(kept.map(({ phrase, description }) => phrase + description)).toEqual(["a2", "b1"]);
    },
  );

  test("200: an import without rows is accepted and counts 0 rows", async () => {
    for (const [body, type] of [
      ["[]", "application/json"],
      ['{"phrases":[]}', "application/json"],
      ["language,phrase\r\n", "text/csv"],
    ] as const) {
      const response = await imports(body, type);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        ok: true,
        data: { imported: 0, created: 0, changed: 0, unchanged: 0 },
      });
    }
  });

  test("400: one bad row among 50,000 is named by its line, and no row is written", async () => {
    const language = freshLanguage();
    const rows = Array.from({ length: 50_000 }, (_, n) => `${language},${n === 30_000 ? "" : `ord ${n}`}`);
    const { status, code, message, details } = await refusal(
      imports(`language,phrase\r\n${rows.join("\r\n")}`, "text/csv"),
    );
    expect([status, code]).toEqual([400, "INVALID_PAYLOAD"]);
    expect(message).toContain("line 30002: phrase is required");
    expect(details).toEqual([{ line: 30_002, pointer: "/30000/phrase", message: "is required" }]);
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([]);
  });

  test("400: a bad row of a JSON import is named by its index", async () => {
    const language = freshLanguage();
    const rows = [{ language, phrase: "a" }, { language, phrase: "b", x: 1 }, "c"];
    const { status, message, details } = await refusal(imports(JSON.stringify(rows)));
    expect(status).toBe(400);
    expect(message).toContain("index 1: x is unknown");
    expect(details).toEqual([
      { index: 1, pointer: "/1/x", message: "is unknown" },
      { index: 2, pointer: "/2", message: "must be a phrase object" },
    ]);
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([]);
  });

  test("400: the id of one phrase with the text of another is a bad row, and no row is written", async () => {
    const language = freshLanguage();
    const a = await demo.put({ language, phrase: "a" });
    const b = await demo.put({ language, phrase: "b" });
    const rows = `id,language,phrase\r\n,${language},c\r\n${a.id},${language},b\r\n`;
    const { status, details } = await refusal(imports(rows, "text/csv"));
    expect([status, details]).toEqual([400, [expect.objectContaining({ line: 3, pointer: "/1/id" })]]);
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([a, b]);
  });

  test.for([
    ["an empty file", "", "text/csv", "empty"],
    ["an unknown column", "language,phrase,note\nsv,a,b", "text/csv", '"note"'],
    ["a doubled column", "language,phrase,phrase\nsv,a,b", "text/csv", '"phrase"'],
    ["a missing column", "phrase\na", "text/csv", '"language"'],
    ["tabs between cells", "language\tphrase\nsv\ta", "text/csv", "tabs"],
    ["a short row", "language,phrase\nsv,a\n\nsv\n", "text/csv", "line 4"],
    ["an open quote", 'language,phrase\nsv,a\nsv,"b\nsv,c\n', "text/csv", "line 3"],
    ["a line break in a phrase", 'language,phrase\r\nsv,"a\r\nb"\r\nsv,c\r\n', "text/csv", "line 2"],
    [
      "a boolean that is neither true nor false",
      "language,phrase,forbidden\nsv,a,yes\n",
      "text/csv",
      "line 2: forbidden",
    ],
    ["a JSON string", '"a"', "application/json", "array"],
    ["phrases that are an object", '{"phrases":{}}', "application/json", "phrases"],
    ["an unknown member", '{"phrases":[],"dry":true}', "application/json", '"dry"'],
    ["no JSON", "[{]", "application/json", "JSON"],
  ] as const)("400 INVALID_PAYLOAD for %s", async ([, body, type, named]) => {
    const { status, code, message } = await refusal(imports(body, type));
    expect([status, code]).toEqual([400, "INVALID_PAYLOAD"]);
    expect(message).toContain(named);
  });

  test("400 for bytes that are not UTF-8", async () => {
    const latin1 = Buffer.from("language,phrase\nsv,k\xf6tt\n", "latin1");
    expect(await refusal(demo.send("POST", "/import", latin1, "text/csv"))).toMatchObject({ status: 400 });
  });
});

describe("DELETE /v1/phrases/:id", () => {
  test("200 for an id in upper case, after which the phrase is gone and a repeat is 404", async () => {
    const language = freshLanguage();
    const { id } = await demo.put({ language, phrase: "p" });
    const response = await demo.delete(id.toUpperCase());
    expect([response.status, await response.json()]).toEqual([200, { ok: true, data: { id } }]);
    expect(await phrasesOf(demo.get(`?language=${language}`))).toEqual([]);
    expect(await refusal(demo.delete(id))).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  test.for([randomUUID(), "nonsense", "%00", "a%2Fb"])("404 for %s, which is the id of no phrase", async (id) => {
    expect(await refusal(demo.delete(id))).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });
});
