/** Forms with the longest texts that services take, in the characters that need most bytes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { fieldOf, hiddenOf } from "./support/page-text.ts";

/** A character that NFC makes of three, each of four bytes, so of twelve in a form. */
const composed = "\u{16126}";
const typed = (count: number) => composed.normalize("NFD").repeat(count);
const stored = (count: number) => composed.repeat(count);

const opened = new AsyncDisposableStack();
const browser = new Browser();
let console: FullConsole;
const at = (path: string) => `${console.origin}/t/${console.tenantId}${path}`;

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  await console.signIn(browser);
});
afterAll(() => opened.disposeAsync());

test("the largest phrase is added and saved whole", async () => {
  const mistakes = Array.from({ length: 50 }, () => typed(256)).join("\r\n");
  const fields = { phrase: typed(256), language: "mul", mistakes, description: typed(1_000) };
  const { text: form } = await browser.open(at("/phrases/new"));
  const added = await browser.submit(at("/phrases/new"), { ...fields, id: hiddenOf(form, "id") });
  expect([added.status, added.text]).toEqual([200, expect.stringContaining("The phrase is in the dictionary.")]);
  const saved = await browser.submit(added.url, { ...fields, rules: "forbidden", read: hiddenOf(added.text, "read") });
  expect([saved.status, saved.text]).toEqual([200, expect.stringContaining("The phrase is saved.")]);
  for (const { text } of [added, saved]) {
    expect(fieldOf(text, "phrase")).toBe(stored(256));
    expect(fieldOf(text, "mistakes").trim().split("\n")).toEqual(Array.from({ length: 50 }, () => stored(256)));
    expect(fieldOf(text, "description")).toBe(stored(1_000));
  }
});

test("an endpoint with 16 headers is registered and changed with the longest URL, name and description", async () => {
  const url = "http://127.0.0.1:9/".padEnd(2_048, "語");
  const headerNames = Array.from({ length: 16 }, (_, n) => `x${String(n).padStart(63, "-")}`);
  const fields: [string, string][] = [
    ["name", typed(200)],
    ["headers", headerNames.map((name) => `${name}: ${"~".repeat(1_024)}`).join("\r\n")],
    ["events", "snapshot.usable"],
  ];
  const { endpoints, tenantId } = console.room;
  const registered = await browser.submit(at("/endpoints/new"), [
    ...fields,
    ["url", url],
    ["description", "😀".repeat(1_000)],
    ["once", hiddenOf((await browser.open(at("/endpoints/new"))).text, "once")],
  ]);
  expect([registered.status, registered.text]).toEqual([200, expect.stringContaining("is registered")]);
  const [endpoint] = (await endpoints.listEndpoints({ tenantId })).endpoints;
  const kept = { url: new URL(url).href, name: stored(200), headerNames };
  expect(endpoint).toMatchObject({ ...kept, description: "😀".repeat(1_000) });
  const edit = at(`/endpoints/${endpoint!.endpointId}/edit`);
  const { text: form } = await browser.open(edit);
  const changed = await browser.submit(edit, [
    ...fields,
    ["url", fieldOf(form, "url")],
    ["description", "🎉".repeat(1_000)],
    ["opened", hiddenOf(form, "opened")],
  ]);
  expect([changed.status, changed.text]).toEqual([200, expect.stringContaining("The endpoint is changed.")]);
  const [after] = (await endpoints.listEndpoints({ tenantId })).endpoints;
  expect(after).toMatchObject({ ...kept, description: "🎉".repeat(1_000) });
});
