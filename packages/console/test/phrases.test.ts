/** The pages of the dictionary. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

const opened = new AsyncDisposableStack();
const browser = new Browser();
let console: FullConsole;
let base: string;

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  base = `${console.origin}/t/${console.tenantId}/phrases`;
  await console.signIn(browser);
});
afterAll(() => opened.disposeAsync());

const valueOf = ({ text }: Page, name: string) => new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(text)?.[1];
const decoded = (markup: string) => markup.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
/** The text of a page's content, without markup. */
const wordsOf = ({ text }: Page) =>
  decoded(text.replace(/^[^]*<main/, "<main").replace(/<[^>]+>/g, " ")).replace(/\s+/g, " ");
/** The URL of the link Next; undefined on the last page. */
const nextOf = ({ text }: Page) => {
  const link = /href="([^"]*)" rel="next"/.exec(text)?.[1];
  return link === undefined ? undefined : new URL(decoded(link), base);
};

async function add(fields: Readonly<Record<string, string>>): Promise<Page> {
  const form = await browser.open(`${base}/new`);
  return browser.submit(`${base}/new`, { id: valueOf(form, "id") ?? "", language: "sv", ...fields });
}

function upload(text: string | Uint8Array<ArrayBuffer>, what = "import", name = "phrases.csv"): FormData {
  const form = new FormData();
  form.set("file", new Blob([text], { type: "text/csv" }), name);
  form.set("do", what);
  return form;
}

describe("a phrase", () => {
  const idIn = ({ url }: Page) => url.pathname.split("/").at(-1);

  test("is added, and found in the list by a part of its text", async () => {
    const added = await add({
      phrase: "Försvarsmakten",
      mistakes: "Forsvarsmakten\r\n\r\nförsvarsmakten",
      rules: "forbidden",
    });
    expect(wordsOf(added)).toContain("The phrase is in the dictionary.");
    const found = await browser.open(`${base}?contains=SVARSM&language=sv`);
    expect(wordsOf(found)).toContain("Common mistakes are not searched.");
    expect(wordsOf(found)).toMatch(
      /1 phrase, by language and text .* Försvarsmakten forbidden sv Forsvarsmakten , försvarsmakten/,
    );
  });

  test("is saved with the description that was typed", async () => {
    const id = idIn(await add({ phrase: "Kustbevakningen" }));
    const page = await browser.open(`${base}/${id}`);
    const edit = { phrase: "Kustbevakningen", language: "sv", description: "myndighet", read: valueOf(page, "read")! };
    const saved = await browser.submit(`${base}/${id}`, edit);
    expect(wordsOf(saved)).toContain("The phrase is saved.");
    expect(valueOf(saved, "description")).toBe("myndighet");
  });

  test("is deleted after a question, by a form that answers the same when it is sent again", async () => {
    const id = idIn(await add({ phrase: "Tullverket" }));
    expect(wordsOf(await browser.open(`${base}/${id}/delete`))).toContain("Delete “ Tullverket ”?");
    for (let times = 0; times < 2; times += 1) {
      const deleted = await browser.submit(`${base}/${id}/delete`);
      expect([deleted.status, wordsOf(deleted)]).toEqual([200, expect.stringContaining("The phrase is deleted.")]);
    }
    expect((await browser.open(`${base}/${id}`)).status).toBe(404);
  });

  test("that the dictionary has already is refused, and what was typed stays in the form", async () => {
    await add({ phrase: "dubbel" });
    const again = await add({ phrase: "dubbel", description: "a note" });
    expect(again.status).toBe(400);
    expect(wordsOf(again)).toContain("The dictionary has this phrase in this language already");
    expect([valueOf(again, "phrase"), valueOf(again, "description")]).toEqual(["dubbel", "a note"]);
  });

  test("is added once by a form that is sent twice", async () => {
    const form = await browser.open(`${base}/new`);
    const fields = { id: valueOf(form, "id")!, language: "sv", phrase: "en gång" };
    const [first, second] = [await browser.submit(`${base}/new`, fields), await browser.submit(`${base}/new`, fields)];
    expect(second.url.href).toBe(first.url.href);
    expect(wordsOf(await browser.open(`${base}?contains=en+g%C3%A5ng`))).toContain("1 phrase,");
  });

  test("with faults is not added, and each fault is shown at its field", async () => {
    const page = await add({ phrase: " ", language: "sv_SE", mistakes: "a|b", description: "x".repeat(1001) });
    expect(page.status).toBe(400);
    for (const field of ["phrase", "language", "mistakes", "description"]) {
      expect(page.text).toMatch(new RegExp(`<a href="#${field}">`));
      expect(page.text).toContain(`id="${field}-error"`);
    }
    expect(wordsOf(page)).toContain("Mistake 1 must not contain |");
  });

  test("that was changed since its form was opened is not overwritten, and the page says why", async () => {
    const id = idIn(await add({ phrase: "tvist" }));
    const read = valueOf(await browser.open(`${base}/${id}`), "read")!;
    const edit = (description: string) =>
      browser.submit(`${base}/${id}`, { phrase: "tvist", language: "sv", description, read });
    expect((await edit("first")).status).toBe(200);
    const second = await edit("second");
    expect(second.status).toBe(400);
    expect(wordsOf(second)).toContain("Somebody has changed or deleted this phrase since you opened it");
    expect(valueOf(second, "description")).toBe("second");
    expect(second.text).not.toMatch(/<button[^>]*>Save/);
    expect(second.text).toMatch(new RegExp(`class="button primary"[^>]*href="/t/\\w+/phrases/${id}"`));
    expect(wordsOf(second)).toContain("Edit the phrase as it is now");
    expect(valueOf(await browser.open(`${base}/${id}`), "description")).toBe("first");
  });

  test("that does not exist, or has a malformed id, is 404", async () => {
    for (const id of ["x", crypto.randomUUID(), "..%2Fnew"]) {
      expect((await browser.open(`${base}/${id}`)).status).toBe(404);
      expect((await browser.open(`${base}/${id}/delete`)).status).toBe(404);
    }
  });

  test.for([
    ["256 letters", "a".repeat(256)],
    ["256 emoji", "😀".repeat(256)],
    ["Arabic words", "القاهرة مدينة"],
    ["Japanese words", "食べる日本語の辞書"],
    ["markup", '"><script>alert(1)</script>'],
  ] as const)("of %s is shown as it is", async ([, phrase]) => {
    const added = await add({ phrase, language: "mul", description: phrase });
    expect([added.status, added.text.includes("<script>alert")]).toEqual([200, false]);
    const listed = await browser.open(`${base}?language=mul&contains=${encodeURIComponent(phrase)}`);
    expect(wordsOf(listed)).toContain(phrase);
    expect(listed.text).not.toContain("<script>alert");
  });
});

describe("the list", () => {
  test("shows each phrase once over its pages, even after a page token of the greatest length", async () => {
    const language = "nb-variant1-variant2-variant3-vari4";
    const words = Array.from({ length: 120 }, (_, n) => `${n < 50 ? "ord" : "\u{10001}"} ${100 + n}`);
    // Texts are in the order of their bytes, so this one is the last of the first page.
    words[49] = "\u{10000}".repeat(256);
    const rows = words.map((word) => `${language},${word}`);
    await browser.submit(`${base}/import`, upload(["language,phrase", ...rows].join("\r\n")));
    const pages: Page[] = [];
    let url: URL | undefined = new URL(`${base}?language=${language}`);
    while (url && pages.length < 4) {
      const page: Page = await browser.open(url);
      pages.push(page);
      url = nextOf(page);
    }
    expect(pages[1]!.url.searchParams.get("page")).toHaveLength(1_424);
    const wordsIn = ({ text }: Page) => Array.from(text.matchAll(/" dir="auto">(.*?)<\/a>/g), ([, word]) => word);
    expect(pages.flatMap(wordsIn)).toEqual(words);
    expect(pages.map(({ text }) => /<caption>\s*(.*?),/.exec(text)?.[1])).toEqual([
      "Phrases 1 to 50",
      "Phrases 51 to 100",
      "Phrases 101 to 120",
    ]);
  });

  test("shows the fault of a malformed language at its field", async () => {
    expect((await browser.open(`${base}?language=sv_SE`)).text).toContain('id="language-error"');
  });

  test("says what was searched for in vain", async () => {
    expect(wordsOf(await browser.open(`${base}?contains=nowhere&language=fi`))).toContain(
      "No phrase with “ nowhere ” in it is here in the language fi",
    );
  });

  test("continues on the next page a search that stopped after 20,000 phrases", async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => `da,ord ${n}`);
    await browser.submit(`${base}/import`, upload(["language,phrase", ...rows, "da,x nål"].join("\r\n")));
    const first = await browser.open(`${base}?language=da&contains=n%C3%A5l`);
    expect(wordsOf(first)).toContain("None of the 20,000 phrases that this page has looked through");
    expect(wordsOf(await browser.open(nextOf(first)!))).toContain("x nål");
  });
});

describe("an import", () => {
  const bad = "language,phrase,forbidden\r\nsv,bra,\r\nsv,,\r\nsv,dålig,kanske\r\n";

  test("with faults stores nothing until they are mended on the page, which names them by line", async () => {
    const page = await browser.submit(`${base}/import`, upload(bad, "import", "två fel.csv"));
    expect(page.status).toBe(400);
    const words = wordsOf(page);
    expect(words).toContain("Nothing was imported: 2 of 3 rows are invalid.");
    expect(words).toMatch(
      /Line 3 phrase It is required. sv,, Line 4 forbidden It must be true or false. sv,dålig,kanske/,
    );
    expect(wordsOf(await browser.open(`${base}?contains=bra&language=sv`))).not.toContain("1 phrase");
    const typed = decoded(/<textarea[^>]*>\n([^]*?)<\/textarea>/.exec(page.text)![1]!);
    expect(typed).toBe(bad);
    const mended = typed.replace("sv,,", "sv,god,").replace("kanske", "true");
    const done = await browser.submit(`${base}/import/text`, { rows: mended, do: "import" });
    expect(wordsOf(done)).toContain("3 rows are imported. New: 3, changed: 0, as they were: 0.");
  });

  test("that is only checked says what it would do, and writes nothing", async () => {
    const checked = await browser.submit(`${base}/import`, upload("language,phrase\nsv,bara koll\n", "check"));
    expect(wordsOf(checked)).toContain("The 1 row of phrases.csv can be imported; nothing was written yet. New: 1");
    expect(checked.text).toContain("language,phrase\nsv,bara koll\n</textarea>");
    expect(wordsOf(await browser.open(`${base}?contains=bara+koll&language=sv`))).toContain("No phrase");
  });

  test("with faults that is only checked says that the check found them", async () => {
    const words = wordsOf(await browser.submit(`${base}/import`, upload(bad, "check")));
    expect(words).toContain("The check found faults");
    expect(words).not.toContain("This could not be done");
  });

  test.for([
    ["an empty file", "", "the file is empty"],
    ["a file that is not UTF-8", new Uint8Array([0x6c, 0xe5, 0x0a]), "the file is not UTF-8"],
    ["a file with an unknown column", "language,phrase,color\nsv,a,b\n", 'the column "color" is unknown'],
    [
      "a file whose row has fewer cells than its header",
      "language,phrase\nsv\n",
      "line 2: 1 cells where the header has 2",
    ],
  ] as const)("of %s is refused, and the page says why", async ([, file, why]) => {
    const page = await browser.submit(`${base}/import`, upload(file));
    expect([page.status, wordsOf(page)]).toEqual([400, expect.stringContaining(why)]);
  });

  test("without a chosen file asks for one", async () => {
    const form = new FormData();
    form.set("file", new Blob([]), "");
    form.set("do", "import");
    expect(wordsOf(await browser.submit(`${base}/import`, form))).toContain("Choose a file first.");
    expect(wordsOf(await browser.submit(`${base}/import`, { do: "import" }))).toContain("Choose a file first.");
  });

  test("of 10 MiB is not too large, and a byte more is refused with a page that says why", async () => {
    const tenMebibytes = Buffer.alloc(10 * 1024 * 1024, "x");
    const whole = await browser.submit(`${base}/import`, upload(tenMebibytes));
    expect([whole.status, wordsOf(whole)]).toEqual([400, expect.stringContaining("a row has at most 256 KiB")]);
    const larger = await browser.submit(`${base}/import`, upload(Buffer.concat([tenMebibytes, Buffer.from("x")])));
    expect([larger.status, wordsOf(larger)]).toEqual([413, expect.stringContaining("the file has more than 10 MiB")]);
  });

  test("of 9 MiB without a session is answered with a page that says that the session has ended", async () => {
    const page = await new Browser().submit(`${base}/import`, upload(Buffer.alloc(9 * 1024 * 1024, "x")));
    expect([page.status, wordsOf(page)]).toEqual([401, expect.stringContaining("Your session has ended")]);
  });

  test("that was pasted and is sent without a session stays in the page's form", async () => {
    const page = await new Browser().submit(`${base}/import/text`, { rows: bad, do: "import" });
    expect(page.status).toBe(401);
    expect(page.text).toContain(`name="rows" value="${bad}"`);
  });

  test("with faults shows the text of its file as text, not as markup", async () => {
    const page = await browser.submit(
      `${base}/import`,
      upload("language,phrase\nsv_SE,<img src=x onerror=alert(1)>\n"),
    );
    expect(page.text).not.toContain("<img");
    expect(wordsOf(page)).toContain("sv_SE,<img src=x onerror=alert(1)>");
  });
});

describe("an export", () => {
  const read = async (query = "", method = "GET") => {
    const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
    return fetch(`${base}/export${query}`, { method, headers: { cookie } });
  };

  test("is the CSV of the public API, as a file to save, of all languages or one", async () => {
    const key = console.room.apiKey;
    for (const language of ["", "sv"]) {
      const query = language === "" ? "" : `?language=${language}`;
      const answer = await read(query);
      expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(answer.headers.get("content-disposition")).toBe(
        `attachment; filename="phrases${language && "-"}${language}.csv"`,
      );
      const api = await fetch(`${console.dev.gateway}/v1/phrases?format=csv${query.replace("?", "&")}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(await answer.text()).toBe(await api.text());
    }
  });

  test("that is imported again changes nothing", async () => {
    const file = await (await read("?language=sv")).text();
    expect(wordsOf(await browser.submit(`${base}/import`, upload(file)))).toMatch(
      /New: 0, changed: 0, as they were: [1-9]/,
    );
  });

  test("of a malformed language is refused with a page", async () => {
    const refused = await read("?language=sv_SE");
    expect([refused.status, refused.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
  });

  test("answers HEAD with the type and the name of the file", async () => {
    const head = await read("", "HEAD");
    const headers = ["content-type", "content-disposition"].map((name) => head.headers.get(name));
    expect([head.status, ...headers]).toEqual([200, "text/csv; charset=utf-8", 'attachment; filename="phrases.csv"']);
  });
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
