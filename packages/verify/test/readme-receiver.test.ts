import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { portOf } from "@vidimus/kit/port";
import { Webhook } from "standardwebhooks";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
const body = JSON.stringify({ type: "snapshot.usable", data: { snapshot: { title: "Färjan inställd" } } });
const ping = JSON.stringify({ type: "endpoint.ping", data: { tenantId: "demo", endpointId: "e1" } });

let receiver: ChildProcess;
let url: string;

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server.address());
  await new Promise((closed) => server.close(closed));
  return port;
}

async function post(payload: string, signature: string, at: Date): Promise<number> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const headers = { "webhook-id": "snp_1", "webhook-timestamp": timestamp, "webhook-signature": signature };
  return (await fetch(url, { method: "POST", body: payload, headers })).status;
}

beforeAll(async () => {
  const [, program = ""] = /<<'END'\n([^]*?)\nEND\n/.exec(readme) ?? [];
  const port = await freePort();
  url = `http://127.0.0.1:${port}/hook`;
  const script = program.replace("9999", String(port));
  receiver = spawn("python3", ["-c", script], { env: { ...process.env, WEBHOOK_SECRET: secret, PYTHONUTF8: "1" } });
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(501), patient);
});

afterAll(() => void receiver.kill());

const now = new Date();
const signatureOf = (payload: string) => new Webhook(secret).sign("snp_1", now, payload);

test("the Python receiver of the repository's README answers signed deliveries with 204 and prints them", async () => {
  const lines = createInterface({ input: receiver.stdout! });
  const printed = once(lines, "line");
  expect(await post(body, `v1,AAAA ${signatureOf(body)}`, now)).toBe(204);
  expect(await printed).toEqual(["genuine: snapshot.usable Färjan inställd"]);
  const pinged = once(lines, "line");
  expect(await post(ping, signatureOf(ping), now)).toBe(204);
  expect(await pinged).toEqual(["genuine: endpoint.ping "]);
});

test.each([
  ["body", body.replace("usable", "Usable"), now],
  ["time", body, new Date(now.getTime() + 1000)],
])("the Python receiver of the repository's README refuses a delivery whose %s was changed", async (_, sent, at) => {
  expect(await post(sent, signatureOf(body), at)).toBe(401);
});
