/** The trust list, and the form that verifies a pasted webhook. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openReceiver, type Webhook } from "../../../tests/support/receiver.ts";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

const opened = new AsyncDisposableStack();
const browser = new Browser();
let console: FullConsole;
let webhook: Webhook;
let secret: string;

beforeAll(async () => {
  console = opened.use(await openFullConsole());
  await console.signIn(browser);
  const { room } = console;
  const receiver = opened.use(await openReceiver());
  ({ secret } = await room.endpoints.createEndpoint({ tenantId: console.tenantId, url: receiver.url }));
  const id = await room.push({ title: "Färjan är inställd – フェリー欠航" });
  await room.transition(id, "publish");
  webhook = await receiver.about(id, { sequence: 1 });
});
afterAll(() => opened.disposeAsync());

const open = (path: string) => browser.open(`${console.origin}/t/${console.tenantId}${path}`);

/** The headers of a webhook as lines, in the order in which they came. */
const linesOf = ({ headers }: Webhook) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");

function verify(fields: { headers?: string; body?: string; secret?: string }): Promise<Page> {
  const form = new FormData();
  const whole = { headers: linesOf(webhook), body: webhook.body.toString(), secret: "", ...fields };
  for (const [name, value] of Object.entries(whole)) form.set(name, value);
  return browser.submit(`${console.origin}/t/${console.tenantId}/trust-list/verify`, form);
}

const decoded = (markup: string) => markup.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
const wordsOf = ({ text }: Page) => decoded(text.replace(/<[^>]+>/g, " ")).replace(/\s+/g, " ");

/** Names of the checks on a page that have this outcome. */
const checksWith = ({ text }: Page, outcome: string) => {
  const rows = text
    .split("<tr>")
    .slice(2)
    .map((row) => Array.from(row.matchAll(/<t[dh][^>]*>([^]*?)<\/t[dh]>/g), cellOf));
  return rows.flatMap(([name = "", found]) => (found === outcome ? [name] : []));
};
const cellOf = ([, cell = ""]: RegExpExecArray) => decoded(cell.replace(/<[^>]+>/g, " ")).trim();

test("the page of the trust list shows each key of GET /api/keys, and says which key signs now", async () => {
  const { active, keys } = (await (await fetch(`${console.dev.gateway}/api/keys`)).json()) as {
    active: string;
    keys: { keyId: string; publicKey: string }[];
  };
  const page = await open("/trust-list");
  for (const { keyId, publicKey } of keys) {
    expect(page.text).toContain(keyId);
    expect(decoded(page.text)).toContain(publicKey);
  }
  expect(wordsOf(page)).toMatch(new RegExp(`${active} signs now What is published now is signed with it`));
});

test.each([
  ["where the list comes from", "comes from the signing service"],
  ["how to read the list oneself", /curl -si http:\S+\/api\/keys/],
  ["that nothing on the page is secret", "Nothing on this page is secret"],
  ["what to do with the list", "What to do with it Day by day, nothing: the programs that receive your webhooks fetch"],
  ["what the state “comes next” means", "comes next It does not sign yet. Receivers learn of it ahead."],
  ["what the absence of a key means", "A key that is not in the list was withdrawn"],
])("the page of the trust list says %s", async (_, words) => {
  expect(wordsOf(await open("/trust-list"))).toMatch(words);
});

test("a genuine webhook passes every check", async () => {
  const page = await verify({ secret });
  expect(page.status).toBe(200);
  expect(wordsOf(page)).toContain("Genuine: the platform sent it to this endpoint, and signed it.");
  expect([checksWith(page, "failed"), checksWith(page, "not checked")]).toEqual([[], []]);
  expect(checksWith(page, "passed")).toHaveLength(12);
});

test("the form of a verified webhook comes back with the body, but without the secret", async () => {
  const page = await verify({ secret });
  expect(page.text).not.toContain(secret);
  expect(page.text).not.toContain(secret.slice(6, 30));
  expect(decoded(page.text)).toContain(webhook.body.toString());
});

test("without the secret only the HMACs are not checked", async () => {
  const page = await verify({});
  expect(wordsOf(page)).toContain("The snapshot is genuine.");
  expect(checksWith(page, "not checked")).toEqual([
    "HMAC of Standard Webhooks, webhook-signature",
    "HMAC of the body, x-vidimus-signature-256",
  ]);
});

test("a whole request that is pasted into the field of the headers is verified", async () => {
  const whole = `POST /hook HTTP/1.1\n${linesOf(webhook)}\n\n${webhook.body.toString()}`;
  expect(wordsOf(await verify({ headers: whole, body: "", secret }))).toContain("Genuine: the platform sent it");
});

test("one changed letter of the snapshot fails each check that covers it, and no other", async () => {
  const page = await verify({ secret, body: webhook.body.toString().replace("inställd", "installd") });
  expect(wordsOf(page)).toContain("Not genuine as it stands: 4 of 12 checks failed.");
  expect(checksWith(page, "failed")).toEqual([
    "Body, by content-digest",
    "HMAC of Standard Webhooks, webhook-signature",
    "HMAC of the body, x-vidimus-signature-256",
    "Snapshot, by the SHA-256 in the statement",
  ]);
  expect(checksWith(page, "passed")).toContain("Ed25519 signature of the statement");
});

test("a changed envelope fails the checks of the body and of what stands beside the snapshot", async () => {
  const body = webhook.body.toString();
  const envelope = await verify({ body: body.replace('"sequence":1', '"sequence":2') });
  expect(checksWith(envelope, "failed")).toEqual(["Body, by content-digest", "What stands beside the snapshot"]);
});

test("a changed webhook-timestamp fails the HMAC of Standard Webhooks, and no other check", async () => {
  const sent = Number(webhook.headers["webhook-timestamp"]);
  const headers = linesOf(webhook).replace(`webhook-timestamp: ${sent}`, `webhook-timestamp: ${sent - 1}`);
  expect(checksWith(await verify({ headers, secret }), "failed")).toEqual([
    "HMAC of Standard Webhooks, webhook-signature",
  ]);
});

test("another secret than the endpoint's fails both HMACs, and no other check", async () => {
  const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
  expect(checksWith(await verify({ secret: other }), "failed")).toEqual([
    "HMAC of Standard Webhooks, webhook-signature",
    "HMAC of the body, x-vidimus-signature-256",
  ]);
});

test("the page names a signature's key that the trust list does not have", async () => {
  const keyId = /"keyId":"(ed25519-[\w-]{16})"/.exec(webhook.body.toString())![1]!;
  const page = await verify({ body: webhook.body.toString().replaceAll(keyId, "ed25519-AAAAAAAAAAAAAAAA") });
  expect(wordsOf(page)).toContain("the trust list has no key ed25519-AAAAAAAAAAAAAAAA");
  expect(checksWith(page, "not checked")).toContain("Ed25519 signature of the statement");
});

test("a text that is no webhook fails the checks of headers and payload", async () => {
  const page = await verify({ headers: "hello", body: "<script>alert(1)</script>" });
  expect(page.status).toBe(200);
  expect(checksWith(page, "failed")).toEqual(["Headers found", "Payload read"]);
  expect(page.text).not.toContain("<script>alert");
});

test("a form without headers and body is refused", async () => {
  expect((await verify({ headers: "", body: " " })).status).toBe(400);
});

test("the verdict on a webhook of which too little could be checked asks for the secret", async () => {
  const body = JSON.stringify({ id: webhook.headers["webhook-id"], type: "endpoint.ping" });
  const headers = linesOf(webhook).replace(/^(content-digest|x-vidimus-signature-256).*\n?/gm, "");
  const words = wordsOf(await verify({ headers, body }));
  expect(words).toContain(
    "too little could be checked to call it genuine. Give the endpoint's secret to check the rest.",
  );
});

test("a body of 1 MiB is taken, and a body of more than 2 MiB is refused with a page", async () => {
  const large = JSON.stringify({ id: "a", type: "x", data: "é".repeat(512 * 1024) });
  expect(checksWith(await verify({ body: large }), "passed")).toContain("Headers found");
  const refused = await verify({ body: "x".repeat(2 * 1024 * 1024 + 1) });
  expect([refused.status, wordsOf(refused)]).toEqual([413, expect.stringContaining("A text has more than 2048 KiB")]);
});

test("a form with five texts is refused, although none is longer than the 2 MiB of a text", async () => {
  const form = new FormData();
  for (const name of ["headers", "body", "secret", "more", "still more"]) form.set(name, "x".repeat(2 * 1024 * 1024));
  const page = await browser.submit(`${console.origin}/t/${console.tenantId}/trust-list/verify`, form);
  expect([page.status, wordsOf(page)]).toEqual([400, expect.stringContaining("The form is not one of this page")]);
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
