import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { type DevStack, openDevStack } from "@vidimus/devstack/stack/dev-stack";
import { portSettings } from "@vidimus/devstack/stack/service-plan";

let stateDir: string;
let env: NodeJS.ProcessEnv;
const id = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "vidimus-stack-"));
  const ports = await Promise.all(portSettings.map(async ({ variable }) => [variable, String(await pickFreePort())]));
  env = { ...process.env, LOG_LEVEL: "warn", ...Object.fromEntries(ports) };
});
afterAll(() => rm(stateDir, { recursive: true, force: true }));

const open = (fresh = false): Promise<DevStack> => openDevStack({ stateDir, env, fresh, say: () => {} });

function push(dev: DevJson): Promise<Response> {
  return fetch(`${dev.gateway}/v1/documents`, {
    method: "POST",
    headers: { authorization: `Bearer ${dev.tenants[0]!.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ id, type: "core/newswire", title: "kept" }),
  });
}

describe("the dev stack", () => {
  it("says where everything is, in a file only its owner can read", async () => {
    await using stack = await open();
    expect(await readDevJson(stateDir)).toEqual(stack.dev);
    expect((await stat(join(stateDir, "dev.json"))).mode & 0o777).toBe(0o600);
    expect(stack.dev).toMatchObject({
      gateway: `http://127.0.0.1:${env["GATEWAY_PORT"]}`,
      tenants: [{ id: "demo" }, { id: "rival" }],
    });
    expect(Object.keys(stack.dev.grpc).toSorted()).toEqual(["access", "delivery", "documents", "phrases", "signing"]);
    expect(Object.keys(stack.dev.pids).toSorted()).toEqual([
      "delivery",
      "documents",
      "gateway",
      "mongod",
      "nats",
      "phrases",
      "signing",
    ]);
    expect((await push(stack.dev)).status).toBe(201);
    await expect(open()).rejects.toThrow("a dev stack already runs here");
  });

  it("keeps data and keys over a restart", async () => {
    const before = await readDevJson(stateDir);
    await using stack = await open();
    expect(stack.dev.tenants).toEqual(before?.tenants);
    expect((await push(stack.dev)).status).toBe(409);
  });

  it("starts over when asked to", async () => {
    const before = await readDevJson(stateDir);
    await using stack = await open(true);
    expect(stack.dev.tenants[0]!.apiKey).not.toBe(before?.tenants[0]!.apiKey);
    expect((await push(stack.dev)).status).toBe(201);
  });

  it("names every taken port with the variable that moves it", async () => {
    const squatters = [createServer(), createServer()];
    squatters[0]!.listen(Number(env["GATEWAY_PORT"]), "127.0.0.1");
    squatters[1]!.listen(Number(env["SIGNING_OPS_PORT"]), "127.0.0.1");
    await Promise.all(squatters.map((server) => once(server, "listening")));
    try {
      const fault = await open().then(
        () => "",
        (error: Error) => error.message,
      );
      expect(fault.split("\n")).toEqual([
        expect.stringMatching(new RegExp(`port ${env["GATEWAY_PORT"]} is taken .*set GATEWAY_PORT`)),
        expect.stringMatching(new RegExp(`port ${env["SIGNING_OPS_PORT"]} is taken .*set SIGNING_OPS_PORT`)),
      ]);
    } finally {
      for (const server of squatters) server.close();
    }
  });

  it("refuses a port that is none, by the name of its variable", async () => {
    await expect(openDevStack({ stateDir, env: { ...env, GATEWAY_PORT: "http" }, say: () => {} })).rejects.toThrow(
      'GATEWAY_PORT must be a port from 0 to 65535, not "http"',
    );
  });
});
