/** The pages of the dictionary and of the trust list while their services are away. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { Browser } from "./support/browser.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";

const opened = new AsyncDisposableStack();
const browser = new Browser();
let console: LinkedConsole;

beforeAll(async () => {
  const gateway = opened.use(await openGateway());
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo" });
  console = opened.use(await openLinkedConsole(gateway.grpcPort, { GATEWAY_URL: "http://127.0.0.1:1" }));
  await console.signIn(browser);
});
afterAll(() => opened.disposeAsync());

test.each([
  ["/phrases", "The service phrases does not answer.", "Text in the phrase"],
  ["/trust-list", "The service gateway does not answer.", "Read it yourself"],
])(
  "%s names the service that does not answer, and still shows navigation and fixed text",
  async (path, missing, rest) => {
    const page = await browser.open(`${console.origin}/t/demo${path}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain(missing);
    expect(page.text).toContain(rest);
    expect(page.text).toContain('aria-label="Main"');
  },
);

test.each([
  ["the page of a phrase", "/phrases/01980f6e-3c1b-7f42-9b1e-2f6f0a3d5c77"],
  ["the export", "/phrases/export"],
])("%s answers 503 while the service phrases is down", async (_, path) => {
  const page = await browser.open(`${console.origin}/t/demo${path}`);
  expect(page.status).toBe(503);
  expect(page.text).toContain("The platform does not answer");
});

test("without a trust list a webhook is still checked, and the page says why the list is missing", async () => {
  const form = new FormData();
  form.set("headers", "webhook-id: a_1\nwebhook-timestamp: 1\nwebhook-signature: v1,AAAA");
  form.set("body", '{"id":"a_1","type":"endpoint.ping","data":{}}');
  const page = await browser.submit(`${console.origin}/t/demo/trust-list/verify`, form);
  expect(page.status).toBe(200);
  expect(page.text).toContain("webhook-id is a_1");
  expect(page.text).toContain("the public API does not answer");
});
