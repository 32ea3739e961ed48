import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openReceiver, type ReceivedWebhook, type Receiver } from "../../../services/delivery/test/support/receiver.ts";
import type { Newsroom } from "../../../tests/support/newsroom.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser, type Page } from "./support/browser.ts";
import { type FullConsole, openFullConsole } from "./support/full-console.ts";
import { fieldOf, hiddenOf } from "./support/page-text.ts";
import { slowRoutes } from "./support/rpc-rounds.ts";

let console: FullConsole;
let room: Newsroom;
let receiver: Receiver;
let ada: Browser;
const at = (path: string) => `${console.origin}/t/${console.tenantId}${path}`;
const eventually = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

beforeAll(async () => {
  console = await openFullConsole();
  ({ room } = console);
  receiver = await openReceiver();
  ada = new Browser();
  await console.signIn(ada, "ada");
});
afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await console?.[Symbol.asyncDispose]();
});

const published: [string, string][] = [
  ["events", "snapshot.usable"],
  ["events", "snapshot.withheld"],
];

/** Opens the form for a new endpoint, and sends it. */
async function register(fields: Record<string, string>, events = published, browser = ada) {
  const { text } = await browser.open(at("/endpoints/new"));
  return browser.submit(at("/endpoints/new"), [
    ...Object.entries({ url: receiver.url, once: hiddenOf(text, "once"), ...fields }),
    ...events,
  ]);
}

/** The endpoint with a name, as delivery keeps it. */
async function named(name: string) {
  const { endpoints } = await room.endpoints.listEndpoints({ tenantId: console.tenantId });
  return endpoints.find((endpoint) => endpoint.name === name)!;
}

const read = async (endpointId: string) =>
  (await room.endpoints.getEndpoint({ tenantId: console.tenantId, endpointId })).endpoint!;

/** Registers an endpoint, and returns its id, the path of its page and its secret. */
async function registered(name: string, fields: Record<string, string> = {}) {
  const { status, text } = await register({ name, ...fields });
  expect([status, name]).toEqual([200, name]);
  const { endpointId } = await named(name);
  return { endpointId, page: `/endpoints/${endpointId}`, secret: fieldOf(text, "secret") };
}

const decoded = (markup: string) =>
  markup.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** Whether a webhook is signed with a secret, as Standard Webhooks describes it. */
function isSignedWith(secret: string, { headers, body }: ReceivedWebhook): boolean {
  const hmac = createHmac("sha256", Buffer.from(secret.replace("whsec_", ""), "base64"))
    .update(`${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.`)
    .update(body);
  return String(headers["webhook-signature"])
    .split(" ")
    .includes(`v1,${hmac.digest("base64")}`);
}

test("an empty list of endpoints leads to the form for a new endpoint", async () => {
  const { text } = await ada.open(at("/endpoints"));
  expect(text).toContain("No endpoint is registered");
  expect(text).toContain(`href="/t/${console.tenantId}/endpoints/new"`);
});

describe("a new endpoint whose form asks for a ping", () => {
  let page: Page;
  let ping: readonly ReceivedWebhook[];
  beforeAll(async () => {
    const seen = receiver.received.length;
    page = await register({ name: "Site", verify: "yes", headers: "x-site: blue" });
    ping = receiver.received.slice(seen);
  });

  test("gets one ping, signed with the secret that the answer shows", () => {
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("The receiver accepted a signed ping")]);
    expect(ping).toHaveLength(1);
    expect(isSignedWith(fieldOf(page.text, "secret"), ping[0]!)).toBe(true);
    expect(ping[0]!.headers["x-site"]).toBe("blue");
  });

  test("is called healthy only after it has accepted a webhook, not after its ping", async () => {
    const list = await ada.open(at("/endpoints"));
    expect(list.text).toContain("1 endpoint, oldest first");
    expect(list.text).toContain('<span class="tag off">nothing accepted yet</span>');
    expect(list.text).toContain("nothing yet; pings do not count");
    expect(list.text).not.toContain("healthy");
    await room.transition(await room.push(), "publish");
    await eventually(async () => expect((await ada.open(at("/endpoints"))).text).toContain("healthy"));
  });
});

describe("a new endpoint whose ping is refused", () => {
  let page: Page;
  beforeAll(async () => {
    receiver.behaviour.answer = (_webhook, response) => response.writeHead(503).end("<b>closed</b>");
    page = await register({ name: "Closed", verify: "yes" });
    receiver.behaviour.answer = (_webhook, response) => response.writeHead(204).end();
  });

  test("is registered all the same", async () => {
    expect(page.status).toBe(200);
    expect(await named("Closed")).toBeDefined();
  });

  test("is shown with the receiver's answer as text, not as markup", () => {
    expect(page.text).toContain("did not accept a ping");
    expect(page.text).toContain("503 Service Unavailable");
    expect(page.text).toContain("&#60;b&#62;closed");
    expect(page.text).not.toContain("<b>closed</b>");
  });
});

describe("the form for a new endpoint, sent three times,", () => {
  let fields: [string, string][];
  let pages: Page[];
  beforeAll(async () => {
    const form = await ada.open(at("/endpoints/new"));
    fields = [["url", receiver.url], ["name", "Once"], ["once", hiddenOf(form.text, "once")], ...published];
    const send = () => ada.submit(at("/endpoints/new"), fields);
    pages = (await Promise.all([send(), send()])).toSorted((a, b) => a.status - b.status);
    pages.push(await send());
  });

  test("registers one endpoint", async () => {
    expect(pages.map(({ status }) => status)).toEqual([200, 409, 409]);
    expect(pages[2]!.text).toContain("“<bdi>Once</bdi>” was made by the first click");
    const { endpoints } = await room.endpoints.listEndpoints({ tenantId: console.tenantId });
    expect(endpoints.filter(({ name }) => name === "Once")).toHaveLength(1);
  });

  test("shows the secret once, and no page of the endpoint shows it again", async () => {
    const secret = fieldOf(pages[0]!.text, "secret");
    expect(secret).toMatch(/^whsec_/);
    const { endpointId } = await named("Once");
    const ofEndpoint = ["", "/edit", "/rotate", "/delete"].map((path) => `/endpoints/${endpointId}${path}`);
    const paths = ["/endpoints", ...ofEndpoint];
    const later = await Promise.all(paths.map((path) => ada.open(at(path))));
    for (const { text } of [...pages.slice(1), ...later]) expect(text).not.toContain(secret.slice(10, 30));
  });
});

test.each([
  ["url", "ftp://example.com/"],
  ["url", "https://user:pass@example.com/"],
  ["name", "\u0007"],
  ["types", "core/nothing"],
  ["headers", "no colon"],
  ["headers", "host: example.com"],
  ["rate", "fast"],
  ["rate", "0.01"],
  ["parallel", "1.5"],
  ["parallel", "1000"],
  ["description", "\u0007"],
])("a fault in %s is shown at its field, in a form that keeps what was typed: %j", async (field, value) => {
  const typed = { [field]: value };
  const page = await register({ name: "Faulty", ...typed });
  expect(page.status).toBe(400);
  expect(page.text).toContain(`<a href="#${field}">`);
  expect(page.text).toContain(`id="${field}-error"`);
  expect(await named("Faulty")).toBeUndefined();
  const kept = { url: receiver.url, name: "Faulty", types: "", rate: "", ...typed };
  for (const [id, text] of Object.entries(kept)) expect([id, fieldOf(page.text, id).trim()]).toEqual([id, text]);
  const mended = { url: receiver.url, name: "Mended", once: hiddenOf(page.text, "once") };
  expect((await ada.submit(at("/endpoints/new"), [...Object.entries(mended), ...published])).status).toBe(200);
});

test("an endpoint without events is refused, with the fault at the field of the events", async () => {
  const page = await register({ name: "Deaf" }, []);
  expect([page.status, page.text]).toEqual([
    400,
    expect.stringContaining('<a href="#events">It is told when: choose one at least.</a>'),
  ]);
});

/** Sends the form of an endpoint's settings, its URL and event included. */
const change = async (page: string, fields: readonly [string, string][]) =>
  ada.submit(at(`${page}/edit`), [["url", receiver.url], ["events", "snapshot.usable"], ...fields]);

test("a change of an endpoint's settings keeps its headers when none are typed", async () => {
  const { endpointId, page } = await registered("Before", { headers: "x-one: 1" });
  const form = await ada.open(at(`${page}/edit`));
  expect(fieldOf(form.text, "name")).toBe("Before");
  const changed = await change(page, [
    ["name", "After"],
    ["types", "core/article"],
    ["rate", "0.5"],
    ["parallel", "4"],
    ["description", "The site\r\nof the coast"],
  ]);
  expect(changed.text).toContain("The endpoint is changed.");
  const settings = { name: "After", documentTypes: ["core/article"], ratePerSecond: 0.5, maxInFlight: 4 };
  const kept = { description: "The site\nof the coast", events: ["snapshot.usable"], headerNames: ["x-one"] };
  expect(await read(endpointId)).toMatchObject({ ...settings, ...kept });
});

test("typed headers replace those of an endpoint", async () => {
  const { endpointId, page } = await registered("With headers", { headers: "x-one: 1" });
  await change(page, [["headers", "x-two: 2"]]);
  expect(await read(endpointId)).toMatchObject({ headerNames: ["x-two"], name: new URL(receiver.url).host });
});

test("a check box removes the headers of an endpoint", async () => {
  const { endpointId, page } = await registered("Loses headers", { headers: "x-one: 1" });
  await change(page, [["no-headers", "yes"]]);
  expect(await read(endpointId)).toMatchObject({ headerNames: [] });
});

test("an endpoint's new URL without a host is refused, and shown again", async () => {
  const { page } = await registered("Moves");
  const bad = await ada.submit(at(`${page}/edit`), [
    ["url", "/hook"],
    ["events", "snapshot.usable"],
  ]);
  expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('<a href="#url">')]);
  expect(fieldOf(bad.text, "url")).toBe("/hook");
});

test("a change of an endpoint keeps what another person has changed since the form was opened", async () => {
  const { endpointId, page } = await registered("Shared");
  const [grace, form] = [new Browser(), at(`${page}/edit`)];
  await console.signIn(grace, "grace");
  const opened = hiddenOf((await ada.open(form)).text, "opened");
  const fields: [string, string][] = [["url", receiver.url], ["opened", opened], ...published];
  await grace.submit(form, [...fields, ["name", "Named by Grace"]]);
  const faulty = await ada.submit(form, [...fields, ["name", "Shared"], ["rate", "some"]]);
  const again: [string, string][] = [["url", receiver.url], ["opened", hiddenOf(faulty.text, "opened")], ...published];
  const changed = await ada.submit(form, [...again, ["name", "Shared"], ["rate", "2"]]);
  const same = await ada.submit(form, [...again, ["name", "Shared"]]);
  expect(same.text).toContain("The endpoint is changed.");
  expect(changed.text).toContain("The endpoint is changed.");
  expect(await read(endpointId)).toMatchObject({ name: "Named by Grace", ratePerSecond: 2 });
});

test("what is published while an endpoint is paused is held, and sent when somebody starts the endpoint", async () => {
  const own = await openReceiver();
  const { endpointId, page } = await registered("Pauses", { url: own.url });
  const paused = await ada.submit(at(`${page}/pause`));
  expect(paused.text).toContain("The endpoint is paused.");
  expect(paused.text).toMatch(/It was paused\s+<time[^>]*>[^<]*<\/time><\/b> by\s+<span class="actor"[^>]*>ada</);
  expect(paused.text).toMatch(
    /<div class="actions">\s*<form method="post" action="[^"]*\/start"><button class="primary">/,
  );
  expect((await ada.open(at(`${page}/delete`))).text).not.toContain("pause it instead");
  const documentId = await room.push();
  await room.transition(documentId, "publish");
  await eventually(async () => expect((await read(endpointId)).health?.heldDeliveries).toBe(1));
  expect((await ada.open(at(page))).text).toContain("1 held, the oldest");
  expect((await ada.open(at("/endpoints"))).text).toContain("1 held, the oldest");
  expect(own.received).toEqual([]);
  const started = await ada.submit(at(`${page}/start`));
  expect(started.text).toContain("The endpoint is started.");
  const [webhook] = await own.arrivals(1);
  expect(webhook!.body.toString()).toContain(documentId);
  expect((await read(endpointId)).disablement).toBeUndefined();
  await own[Symbol.asyncDispose]();
});

/** Opens the form that rotates an endpoint's secret, and sends it. */
async function rotate(page: string, overlap: string) {
  const { text } = await ada.open(at(`${page}/rotate`));
  return ada.submit(at(`${page}/rotate`), { overlap, once: hiddenOf(text, "once") });
}

test("after a rotation with an overlap a ping is signed with both secrets", async () => {
  await using own = await openReceiver();
  const { page, secret: old } = await registered("Rotates", { url: own.url });
  const rotated = await rotate(page, "1h");
  expect([rotated.status, rotated.text]).toEqual([200, expect.stringContaining("signed with both secrets")]);
  expect((await ada.open(at(page))).text).toContain("webhooks are signed with both");
  await ada.submit(at(`${page}/test`));
  const secrets = [old, fieldOf(rotated.text, "secret")];
  expect(secrets.map((each) => isSignedWith(each, own.received.at(-1)!))).toEqual([true, true]);
});

test("after a rotation without an overlap a ping is signed with the newest of three secrets alone", async () => {
  await using own = await openReceiver();
  const { page, secret: old } = await registered("Rotates twice", { url: own.url });
  const rotated = [await rotate(page, "1h"), await rotate(page, "0")];
  await ada.submit(at(`${page}/test`));
  const secrets = [old, ...rotated.map(({ text }) => fieldOf(text, "secret"))];
  expect(secrets.map((each) => isSignedWith(each, own.received.at(-1)!))).toEqual([false, false, true]);
});

test("a form that rotates a secret is refused without a choice of overlap", async () => {
  const { page } = await registered("Rotates by choice");
  const asked = await ada.open(at(`${page}/rotate`));
  const none = await ada.submit(at(`${page}/rotate`), { once: hiddenOf(asked.text, "once") });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining('<a href="#overlap">')]);
});

test("a form that rotates a secret takes effect once", async () => {
  const { endpointId, page } = await registered("Rotates once");
  const asked = await ada.open(at(`${page}/rotate`));
  const form = { overlap: "1h", once: hiddenOf(asked.text, "once") };
  expect((await ada.submit(at(`${page}/rotate`), form)).status).toBe(200);
  const { updatedAt } = await read(endpointId);
  expect((await ada.submit(at(`${page}/rotate`), form)).status).toBe(409);
  expect((await read(endpointId)).updatedAt).toEqual(updatedAt);
});

test("the page of a ping says what the receiver answered, or why there was no answer", async () => {
  const own = await openReceiver((_webhook, response) => response.writeHead(500).end("<script>no</script>"));
  const { page } = await registered("Tested", { url: own.url });
  const refused = await ada.submit(at(`${page}/test`));
  expect([refused.status, refused.text]).toEqual([200, expect.stringContaining("500 Internal Server Error after")]);
  expect(refused.text).toContain("&#60;script&#62;no");
  own.behaviour.answer = (_webhook, response) => response.writeHead(204).end();
  expect((await ada.submit(at(`${page}/test`))).text).toContain("accepted a signed ping</b> (204 No Content");
  await own[Symbol.asyncDispose]();
  expect((await ada.submit(at(`${page}/test`))).text).toContain("no connection after");
});

test("an endpoint is deleted after a question that says what is lost", async () => {
  const { endpointId, page } = await registered("Goes");
  const asked = await ada.open(at(`${page}/delete`));
  expect(asked.text).toContain("pause it instead");
  expect(asked.text).toMatch(/what waits for it is dropped [^]*and its secret is gone\. This cannot be undone\./);
  const gone = await ada.submit(at(`${page}/delete`));
  expect(gone.text).toContain("The endpoint is deleted");
  await expect(read(endpointId)).rejects.toThrow(/not_found|no endpoint/i);
  const late = await Promise.all([ada.open(at(page)), ada.open(at(`${page}/edit`)), ada.submit(at(`${page}/pause`))]);
  expect(late.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test("the pages of an endpoint show its name and description as text, not as markup", async () => {
  const script = "<script>alert(1)</script>";
  for (const name of [`">${script}`, "n".repeat(200), "‮نشرة الأخبار"]) {
    const { page } = await registered(name, { description: script });
    for (const path of ["/endpoints", page, `${page}/edit`, `${page}/rotate`, `${page}/delete`]) {
      const { status, text } = await ada.open(at(path));
      expect([path, status, text.includes("<script>alert")]).toEqual([path, 200, false]);
      expect([path, decoded(text).includes(name)]).toEqual([path, true]);
      if (path === page) expect(decoded(text)).toContain(`<p dir="auto">${script}</p>`);
    }
    const { status, text } = await ada.submit(at(`${page}/test`));
    expect([status, text.includes("<script>alert")]).toEqual([200, false]);
    expect(decoded(text)).toContain(name);
  }
});

test("an endpoint of another tenant is not found", async () => {
  const { tenantId } = await console.newRoom();
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId, url: receiver.url, name: "Theirs" });
  const page = `/endpoints/${endpoint!.endpointId}`;
  const reads = ["", "/edit", "/rotate", "/delete"].map((path) => ada.open(at(`${page}${path}`)));
  const changes = ["/pause", "/start", "/test", "/delete"].map((path) => ada.submit(at(`${page}${path}`)));
  for (const { status, text } of await Promise.all([...reads, ...changes])) {
    expect([status, text.includes("Theirs")]).toEqual([404, false]);
  }
  const { endpoints } = await room.endpoints.listEndpoints({ tenantId });
  expect(endpoints.map(({ name, disablement }) => [name, disablement])).toEqual([["Theirs", undefined]]);
});

test("an integrator may register and pause endpoints", async () => {
  const ivan = new Browser();
  await console.signIn(ivan, "ivan");
  const memberId = personActor({ issuer: linkIssuer, subject: "ivan" });
  await console.members.updateMemberRoles({ tenantId: console.tenantId, memberId, roles: ["integrator"] });
  expect((await register({ name: "Ivan's" }, published, ivan)).status).toBe(200);
  const { endpointId } = await named("Ivan's");
  const paused = await ivan.submit(at(`/endpoints/${endpointId}/pause`));
  expect([paused.status, paused.text]).toEqual([200, expect.stringContaining("The endpoint is paused.")]);
});

test("no request of the tests above took more than two rounds of calls to services", async () => {
  expect(await slowRoutes(console.ops)).toEqual([]);
});
