/** The console while a service hangs: its part of a page says so, and the rest stands. */
import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Browser, type Page } from "../../packages/console/test/support/browser.ts";
import { as, openNewsroom } from "../support/newsroom.ts";
import { openReceiver } from "../support/receiver.ts";

const opened = new AsyncDisposableStack();
const ada = new Browser();
let stack: ProcessConstellation;
let endpointId: string;
let deliveryId: string;
let hung: number[] = [];

beforeAll(async () => {
  stack = opened.use(await openProcessConstellation({}, {}, { console: true }));
  const { dev } = stack;
  const link = new URL((await makeConsoleLink(dev))!);
  await ada.submit(`${dev.console}/sign-in/confirm`, { code: link.hash.replace("#code=", "") });
  using room = openNewsroom(dev);
  await using receiver = await openReceiver();
  const { endpoint } = await room.endpoints.createEndpoint({ tenantId: "demo", name: "Site", url: receiver.url });
  ({ endpointId } = endpoint!);
  const id = await room.push({ title: "Ferry cancelled" });
  await room.transition(id, "publish");
  await receiver.about(id);
  using log = openDevClient(dev, "delivery", DeliveryLogService);
  const found = await log.listDeliveries({ tenantId: "demo", documentId: id }, as("admin"));
  deliveryId = found.deliveries[0]!.deliveryId;
});
afterEach(() => {
  for (const pid of hung) process.kill(pid, "SIGCONT");
  hung = [];
});
afterAll(() => opened.disposeAsync());

/** Stops a service with SIGSTOP. Its connections stay, so calls to it wait for their deadlines. */
async function hang(service: "delivery" | "documents" | "phrases" | "gateway"): Promise<void> {
  const { pids } = await stack.current();
  process.kill(pids[service]!, "SIGSTOP");
  hung.push(pids[service]!);
}

const open = (path: string): Promise<Page> => ada.open(`${stack.dev.console}/t/demo${path}`);
const standing = 'aria-label="Main"';

test.each([
  ["", "You are"],
  ["/endpoints", "New endpoint"],
  ["/deliveries", "Webhook id"],
  ["/replays", "New replay"],
  ["/audit", "made a key"],
])("while delivery hangs, /t/demo%s says that delivery does not answer, and still shows “%s”", async (path, rest) => {
  await hang("delivery");
  const { status, text } = await open(path);
  expect([status, text]).toEqual([200, expect.stringMatching(/(The service )?delivery does not answer/)]);
  for (const each of [rest, standing]) expect(text).toContain(each);
});

test("while delivery hangs, pages that show only its data answer 503 with the navigation", async () => {
  await hang("delivery");
  const paths = [`/endpoints/${endpointId}`, `/deliveries/${deliveryId}`, "/replays/new"];
  for (const { status, text } of await Promise.all(paths.map(open))) {
    expect([status, text]).toEqual([503, expect.stringContaining("The platform does not answer")]);
    expect(text).toContain(standing);
  }
});

test("while documents hangs, a delivery's page shows its attempts, and says why the request is missing", async () => {
  await hang("documents");
  const { status, text } = await open(`/deliveries/${deliveryId}`);
  const missing = "The service that keeps snapshots or signatures does not answer.";
  expect([status, text]).toEqual([200, expect.stringContaining(missing)]);
  expect(text).toContain("204 No Content");
});

test("while documents hangs, the page of endpoints lists them, and names no service that does not answer", async () => {
  await hang("documents");
  const { status, text } = await open("/endpoints");
  expect([status, text]).toEqual([200, expect.stringContaining("Site")]);
  expect(text).not.toContain("does not answer");
});

test("while phrases hangs, the page of phrases says that phrases does not answer", async () => {
  await hang("phrases");
  const phrases = await open("/phrases");
  expect([phrases.status, phrases.text]).toEqual([
    200,
    expect.stringContaining("The service phrases does not answer."),
  ]);
});

test("while phrases hangs, the overview and the pages of webhooks name no service that does not answer", async () => {
  await hang("phrases");
  for (const path of ["", "/endpoints", "/deliveries", "/replays"]) {
    const { status, text } = await open(path);
    expect([path, status]).toEqual([path, 200]);
    expect(text).not.toContain("does not answer");
  }
});

test("while access hangs, pages answer 503 at their own URL, and afterwards a person is still signed in", async () => {
  await hang("gateway");
  for (const path of ["", "/endpoints", "/trust-list"]) {
    const { status, text, url } = await open(path);
    expect([status, text, url.pathname]).toEqual([
      503,
      expect.stringContaining("The platform does not answer"),
      `/t/demo${path}`,
    ]);
  }
  for (const pid of hung) process.kill(pid, "SIGCONT");
  hung = [];
  const back = await vi.waitFor(
    async () => {
      const page = await open("/endpoints");
      expect(page.status).toBe(200);
      return page;
    },
    { timeout: 20_000, interval: 250 },
  );
  expect(back.text).toContain("Site");
});
