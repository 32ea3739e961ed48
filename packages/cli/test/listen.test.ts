import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestPages } from "./support/pages.ts";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const secret = Buffer.alloc(32, 3);
const whsec = (key: Buffer) => `whsec_${key.toString("base64")}`;
const removed: string[] = [];
let registered = Promise.withResolvers<string>();
let services: Awaited<ReturnType<typeof openTestServices>>;
let pages: Awaited<ReturnType<typeof openTestPages>>;

beforeAll(async () => {
  services = await openTestServices(
    route(EndpointService, {
      createEndpoint({ url, secret: given }) {
        registered.resolve(url);
        // As the service does: a secret that was given is not answered.
        return { endpoint: { endpointId: "e1", url }, secret: given === "" ? whsec(secret) : "" };
      },
      deleteEndpoint({ endpointId }) {
        removed.push(endpointId);
        return {};
      },
    }),
  );
  pages = await openTestPages({ "GET /api/keys": { body: { active: null, keys: [] } } });
});
afterAll(async () => {
  await services[Symbol.asyncDispose]();
  await pages[Symbol.asyncDispose]();
});

function ping(key: Buffer): RequestInit {
  const id = "png_1";
  const body = JSON.stringify({ id, type: "endpoint.ping", timestamp: new Date().toISOString(), data: {} });
  const timestamp = Math.floor(Date.now() / 1000).toString();
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  return { method: "POST", headers: { ...headers, "vidimus-event": "endpoint.ping", "vidimus-attempt": "2" }, body };
}

const listening = (...argv: string[]) => [
  "listen",
  "--tenant",
  "demo",
  "--gateway",
  pages.url,
  "--delivery",
  services.target,
  ...argv,
];

test("listen answers 204 to a webhook signed with its endpoint's secret, and 400 to another signature", async () => {
  registered = Promise.withResolvers();
  const ended = run(listening("--count", "2", "--json"));
  const url = await registered.promise;
  const answers = [await fetch(url, ping(secret)), await fetch(url, ping(Buffer.alloc(32, 4)))];
  expect(answers.map(({ status }) => status)).toEqual([204, 400]);
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { verified: true, webhookId: "png_1", event: "endpoint.ping", attempt: 2 },
    { verified: false, fault: "secret" },
  ]);
  expect(stderr).toContain(`endpoint e1 listens at ${url}`);
});

test("once --count webhooks have come, listen removes its endpoint and closes its port", async () => {
  registered = Promise.withResolvers();
  removed.length = 0;
  const ended = run(listening("--count", "1"));
  const url = await registered.promise;
  await fetch(url, ping(secret));
  expect((await ended).code).toBe(0);
  expect(removed).toEqual(["e1"]);
  await expect(fetch(url, ping(secret))).rejects.toThrow("fetch failed");
});

test("an interrupted listen removes its endpoint", async () => {
  registered = Promise.withResolvers();
  removed.length = 0;
  const interrupt = Promise.withResolvers<void>();
  const ended = run(listening("--url", "https://tunnel.example/"), { interrupted: interrupt.promise });
  expect(await registered.promise).toBe("https://tunnel.example/");
  interrupt.resolve();
  expect((await ended).code).toBe(0);
  expect(removed).toEqual(["e1"]);
});

test("listen accepts a webhook signed with the secret of --secret-file", async () => {
  registered = Promise.withResolvers();
  const own = Buffer.alloc(32, 5);
  const ended = run(listening("--count", "1", "--secret-file", "-"), { stdin: whsec(own) });
  expect((await fetch(await registered.promise, ping(own))).status).toBe(204);
  expect((await ended).code).toBe(0);
});
