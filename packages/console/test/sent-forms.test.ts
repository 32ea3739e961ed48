/**
 * The answer to the second of two clicks on one button. Without script a browser drops the answer
 * to the first.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openReceiver, type Receiver } from "../../../services/delivery/test/support/receiver.ts";
import { Browser } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { hiddenOf } from "./support/page-text.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

const opened = new AsyncDisposableStack();
const ada = new Browser();
let console: FullConsole;
/** Accepts each webhook after 300 ms. */
let receiver: Receiver;
const at = (path: string) => `${console.origin}/t/${console.tenantId}${path}`;

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  await console.signIn(ada, "ada");
  receiver = opened.use(
    await openReceiver((_webhook, response) => void setTimeout(() => response.writeHead(204).end(), 300)),
  );
});
afterAll(() => opened.disposeAsync());

/**
 * Opens the form at a path. Returns the fields with the form's token, which makes the form take
 * effect once.
 */
async function filled(path: string, fields: Record<string, string>) {
  const { text } = await ada.open(at(path));
  return { ...fields, once: hiddenOf(text, "once") };
}

test("the answer to a second click names the key that the first has made, and links to rolling it", async () => {
  const form = await filled("/keys/new", { name: "Two <clicks>", scopes: "publisher:read" });
  const pages = await Promise.all([ada.submit(at("/keys/new"), form), ada.submit(at("/keys/new"), form)]);
  const [first, second] = pages.toSorted((a, b) => a.status - b.status);
  expect([first!.status, second!.status]).toEqual([200, 409]);
  expect(second!.text).toContain("“<bdi>Two &#60;clicks&#62;</bdi>” was made by the first click");
  const [, roll] = /href="\/t\/\w+(\/keys\/[^"]+\/roll)"/.exec(second!.text)!;
  expect((await ada.open(at(roll!))).text).toContain("Roll “<bdi>Two &#60;clicks&#62;</bdi>”?");
});

test("an endpoint is still created when the browser has left, and a second click waits for its creation", async () => {
  const form = await filled("/endpoints/new", {
    url: receiver.url,
    name: "Patient",
    events: "snapshot.usable",
    verify: "yes",
  });
  const pinged = vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000, interval: 5 });
  await ada.drop(at("/endpoints/new"), form, pinged);
  const page = await ada.submit(at("/endpoints/new"), form);
  expect([page.status, page.text]).toEqual([409, expect.stringContaining("“<bdi>Patient</bdi>” was made")]);
  expect(page.text).toMatch(/href="\/t\/\w+\/endpoints\/[^"]+\/rotate"/);
  expect((await ada.open(at("/endpoints"))).text).toContain("1 endpoint, oldest first");
  expect(receiver.received).toHaveLength(1);
});

test("two clicks at once and a later one on the start of a replay lead to the page of one replay", async () => {
  const [, endpoint = ""] = /\/endpoints\/([0-9a-f-]{36})"/.exec((await ada.open(at("/endpoints"))).text) ?? [];
  const form = await filled("/keys/new", { endpoint, options: "all" });
  const pages = await Promise.all([ada.submit(at("/replays"), form), ada.submit(at("/replays"), form)]);
  pages.push(await ada.submit(at("/replays"), form));
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
  const [path, ...others] = pages.map(({ url }) => url.pathname);
  expect(path).toMatch(/^\/t\/\w+\/replays\/.+/);
  expect(others).toEqual([path, path]);
});

test("a refused form is refused again for the same reason, and takes effect when it was corrected", async () => {
  const past = await filled("/keys/new", { name: "Mended", scopes: "publisher:read", ends: "2001-01-01" });
  const pages = await Promise.all([ada.submit(at("/keys/new"), past), ada.submit(at("/keys/new"), past)]);
  for (const { status, text } of pages) {
    expect([status, text]).toEqual([400, expect.stringContaining("It must be in the future.")]);
  }
  expect((await ada.submit(at("/keys/new"), { ...past, ends: "" })).status).toBe(200);
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
