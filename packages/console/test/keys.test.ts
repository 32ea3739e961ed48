import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { accessClient } from "../../../services/gateway/test/support/start-gateway.ts";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { fieldOf, hiddenOf, textOf } from "./support/page-text.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

const run = promisify(execFile);
let console: FullConsole;
let access: ReturnType<typeof accessClient>;
let ada: Browser;
const at = (path: string) => `${console.origin}/t/${console.tenantId}${path}`;

beforeAll(async () => {
  console = await openFullConsole();
  access = accessClient(console.accessPort);
  ada = new Browser();
  await console.signIn(ada, "ada");
});
afterAll(async () => {
  await console?.[Symbol.asyncDispose]();
});

/** Opens the form for a new key, and sends it. */
async function make(name: string, scopes: readonly string[], more: Record<string, string> = {}) {
  const { text } = await ada.open(at("/keys/new"));
  const form: [string, string][] = Object.entries({ name, once: hiddenOf(text, "once"), ...more });
  return ada.submit(at("/keys/new"), [...form, ...scopes.map((scope): [string, string] => ["scopes", scope])]);
}

/** Id of the newest key with a name. */
async function idOf(name: string): Promise<string> {
  const { apiKeys } = await access.listApiKeys({ tenantId: console.tenantId });
  return apiKeys.find((key) => key.name === name)!.keyId;
}

test.each([
  ["publisher:read", 200],
  ["phrases:read", 200],
  ["webhooks:read", 200],
  ["documents:create", 201],
  ["phrases:write", 200],
])("the command shown with a new key of scope %s works unchanged until the key is revoked", async (scope, status) => {
  const name = `Tries ${scope}`;
  const page = await make(name, [scope]);
  expect(page.status).toBe(200);
  const command = textOf(page.text, "try");
  expect(command).toContain(fieldOf(page.text, "secret"));
  const call = async () => {
    const { stdout } = await run("sh", ["-c", `${command} -o /dev/null -w '%{http_code}'`]);
    return Number(stdout);
  };
  expect(await call()).toBe(status);
  const asked = await ada.open(at(`/keys/${await idOf(name)}/revoke`));
  expect(asked.text).toContain("cannot be undone");
  const revoked = await ada.submit(at(`/keys/${await idOf(name)}/revoke`));
  expect(revoked.text).toContain("The key is revoked");
  await vi.waitFor(async () => expect(await call()).toBe(401), 5_000);
});

test("the page of a new key leads to the API's documentation", async () => {
  const docs = `${console.dev.gateway}/docs`;
  const page = await make("Documented", ["phrases:read"]);
  expect(page.text).toContain(`<a href="${docs}">${docs}</a>`);
});

test("the navigation leads to the API's documentation", async () => {
  expect((await ada.open(at("/keys"))).text).toContain('<a href="/docs">API docs</a>');
  const { status, headers } = await fetch(`${console.origin}/docs`, { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([303, `${console.dev.gateway}/docs`]);
});

test("a secret is shown once: not by the same form again, not in the list, not on the page of the key", async () => {
  const form = await ada.open(at("/keys/new"));
  const fields = { name: "Once", scopes: "publisher:read", once: hiddenOf(form.text, "once") };
  const [first, second] = await Promise.all([ada.submit(at("/keys/new"), fields), ada.submit(at("/keys/new"), fields)]);
  expect([first.status, second.status].toSorted((a, b) => a - b)).toEqual([200, 409]);
  const secret = fieldOf([first, second].find(({ status }) => status === 200)!.text, "secret");
  expect(secret).toMatch(/^vk_/);
  const later = [
    await ada.submit(at("/keys/new"), fields),
    await ada.open(at("/keys?state=all")),
    await ada.open(at(`/keys/${await idOf("Once")}`)),
    [first, second].find(({ status }) => status === 409)!,
  ];
  expect(later[0]).toMatchObject({
    status: 409,
    text: expect.stringContaining("“<bdi>Once</bdi>” was made by the first click"),
  });
  for (const { text } of later) expect(text).not.toContain(secret.slice(20));
  const { apiKeys } = await access.listApiKeys({ tenantId: console.tenantId });
  expect(apiKeys.filter(({ name }) => name === "Once")).toHaveLength(1);
});

test("a fault of a new key is shown with a link to its field", async () => {
  const name = await make("\u0007", ["publisher:read"]);
  expect(name.text).toContain('<a href="#name">Name: it must have 1 to 200 characters and no control characters.</a>');
  const past = await make("Past", ["publisher:read"], { ends: "2001-01-01" });
  expect(past.text).toContain('<a href="#ends">Last day: it must be in the future.</a>');
  const none = await make("None", []);
  expect(none.text).toContain('<a href="#scopes">Scopes: choose at least one scope.');
});

test("the form for a new key, refused for a fault, keeps what was typed", async () => {
  const page = await make(`"><script>alert(1)</script>\u0007`, ["publisher:read"], { ends: "2001-01-01" });
  expect(page.status).toBe(400);
  expect(decoded(page.text)).toContain('value=""><script>alert(1)</script>\u0007"');
  expect(page.text).toContain('value="2001-01-01"');
  expect(page.text).not.toContain("<script>alert");
  expect(page.text).toMatch(/value="publisher:read"\s+checked/);
});

const decoded = (markup: string) =>
  markup.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

test("names of keys are shown as text on the pages of keys, never as markup", async () => {
  const names = ['"><script>alert(1)</script>', "n".repeat(200), "‮نشرة الأخبار", "速報デスク"];
  for (const name of names) {
    const { status, text } = await make(name, ["publisher:read"]);
    expect([name, status]).toEqual([name, 200]);
    expect(text).not.toContain("<script>alert");
    expect(decoded(text)).toContain(name);
    const id = await idOf(name);
    for (const path of ["/keys", `/keys/${id}`, `/keys/${id}/roll`, `/keys/${id}/revoke`, `/keys/${id}/scopes`]) {
      const page = await ada.open(at(path));
      expect([path, page.status, page.text.includes("<script>alert")]).toEqual([path, 200, false]);
      expect([path, decoded(page.text).includes(name)]).toEqual([path, true]);
    }
  }
});

describe("a key that was rolled", () => {
  let path: string;
  let form: Record<string, string>;
  let rolled: Page;
  beforeAll(async () => {
    await make("Rolls", ["publisher:read"]);
    path = `/keys/${await idOf("Rolls")}`;
    form = { overlap: "1h", once: hiddenOf((await ada.open(at(`${path}/roll`))).text, "once") };
    rolled = await ada.submit(at(`${path}/roll`), form);
  });

  test("is replaced by a new key, and the page says until when the old key works", async () => {
    expect([rolled.status, rolled.text]).toEqual([
      200,
      expect.stringMatching(/The old key works until <time datetime="[^"]+">/),
    ]);
    const { apiKey } = await access.getApiKey({ tenantId: console.tenantId, keyId: path.replace("/keys/", "") });
    expect(apiKey!.replacedBy).toBe(await idOf("Rolls"));
  });

  test("is not rolled again, neither by the same form nor by a new one", async () => {
    expect((await ada.submit(at(`${path}/roll`), form)).status).toBe(409);
    const again = await ada.open(at(`${path}/roll`));
    const refused = await ada.submit(at(`${path}/roll`), { overlap: "0", once: hiddenOf(again.text, "once") });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("was rolled before")]);
  });
});

test("a change of a key's scopes to none is refused", async () => {
  await make("Some scopes", ["publisher:read"]);
  const none = await ada.submit(at(`/keys/${await idOf("Some scopes")}/scopes`));
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("Choose at least one scope.")]);
});

test("the scopes that are chosen for a key replace its former scopes", async () => {
  await make("Scopes", ["publisher:read"]);
  const id = await idOf("Scopes");
  const changed = await ada.submit(at(`/keys/${id}/scopes`), [
    ["scopes", "phrases:read"],
    ["scopes", "phrases:write"],
  ]);
  expect(changed.text).toContain("The scopes are changed.");
  const { apiKey } = await access.getApiKey({ tenantId: console.tenantId, keyId: id });
  expect(apiKey!.scopes).toEqual(["phrases:read", "phrases:write"]);
});

test("rolling a key that another person has just revoked is refused, and the page says why", async () => {
  const grace = new Browser();
  await console.signIn(grace, "grace");
  await make("Shared", ["publisher:read"]);
  const id = await idOf("Shared");
  const open = await grace.open(at(`/keys/${id}/roll`));
  await ada.submit(at(`/keys/${id}/revoke`));
  const late = await grace.submit(at(`/keys/${id}/roll`), { overlap: "0", once: hiddenOf(open.text, "once") });
  expect([late.status, late.text]).toEqual([400, expect.stringContaining("was revoked")]);
  expect((await grace.open(at("/keys?state=all"))).text).toContain("revoked");
});

test("a form sent after the session has ended keeps what was typed, and makes one key after a sign-in", async () => {
  const form = await ada.open(at("/keys/new"));
  const fields = { name: "Typed", scopes: "publisher:read", once: hiddenOf(form.text, "once") };
  await ada.submit(`${console.origin}/sign-out`);
  const ended = await ada.submit(at("/keys/new"), fields);
  expect([ended.status, ended.text]).toEqual([401, expect.stringContaining("Your session has ended")]);
  expect([fieldValue(ended.text, "name"), hiddenOf(ended.text, "once")]).toEqual(["Typed", fields.once]);
  await console.signIn(ada, "ada");
  const sent = { name: fieldValue(ended.text, "name"), scopes: fieldValue(ended.text, "scopes"), once: fields.once };
  expect((await ada.submit(at("/keys/new"), sent)).status).toBe(200);
  expect((await ada.submit(at("/keys/new"), sent)).status).toBe(409);
  const { apiKeys } = await access.listApiKeys({ tenantId: console.tenantId });
  expect(apiKeys.filter(({ name }) => name === "Typed")).toHaveLength(1);
});

const fieldValue = (text: string, name: string) => hiddenOf(text, name);

test("56 keys come in two pages, which repeat none and miss none", async () => {
  const { tenantId } = await console.newRoom();
  const made = await access.createApiKey({ tenantId, name: "Rolled", scopes: ["publisher:read"] });
  let { keyId } = made.apiKey!;
  for (let rolls = 0; rolls < 54; rolls += 1) {
    const { apiKey } = await access.rollApiKey({ tenantId, keyId });
    ({ keyId } = apiKey!);
  }
  const { code } = await console.members.inviteMember({ tenantId, roles: ["admin"] });
  await ada.submit(`${console.origin}/invitation`, { code });
  await ada.submit(`${console.origin}/invitation/accept`);
  const first = await ada.open(`${console.origin}/t/${tenantId}/keys?state=all`);
  expect(first.text).toContain("Keys 1 to 50, newest first; there are more");
  const next = /href="([^"]+)" rel="next"/.exec(first.text)![1]!;
  const second = await ada.open(new URL(next.replaceAll("&#38;", "&").replaceAll("&#61;", "="), console.origin));
  // The 55 keys of this test, and the key with which the tenant was made.
  expect(second.text).toContain("Keys 51 to 56, newest first");
  const ids = Array.from((first.text + second.text).matchAll(/keys\/([0-9a-f-]{36})" dir="auto"/g));
  expect([ids.length, new Set(ids.map(([, id]) => id)).size]).toEqual([56, 56]);
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
