import { mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { type DevStack, openDevStack } from "@vidimus/devstack/stack/dev-stack";
import { freePorts } from "@vidimus/devstack/testing/free-ports";

let stateDir: string;
let env: NodeJS.ProcessEnv;
const id = "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10";

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "vidimus-stack-"));
  env = { ...process.env, LOG_LEVEL: "warn", ...(await freePorts()) };
});
afterAll(() => rm(stateDir, { recursive: true, force: true }));

const open = (fresh = false, report: (line: string) => void = () => {}): Promise<DevStack> =>
  openDevStack({ stateDir, env, fresh, console: true, report });

function push(dev: DevJson): Promise<Response> {
  return fetch(`${dev.gateway}/v1/documents`, {
    method: "POST",
    headers: { authorization: `Bearer ${dev.tenants[0]!.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ id, type: "core/newswire", title: "kept" }),
  });
}

describe("the dev stack", () => {
  describe("while it runs", () => {
    let stack: DevStack;
    beforeAll(async () => {
      stack = await open();
    });
    afterAll(() => stack?.[Symbol.asyncDispose]());

    it("has the addresses of its services and console in dev.json", async () => {
      const { gateway, console, grpc, mesh, ops } = (await readDevJson(stateDir))!;
      expect({ gateway, console }).toEqual({
        gateway: `http://127.0.0.1:${env["GATEWAY_PORT"]}`,
        console: `http://127.0.0.1:${env["CONSOLE_PORT"]}`,
      });
      const at = (name: string) => `127.0.0.1:${env[name]}`;
      expect(grpc).toEqual({
        access: at("ACCESS_GRPC_PORT"),
        documents: at("DOCUMENTS_GRPC_PORT"),
        phrases: at("PHRASES_GRPC_PORT"),
        signing: at("SIGNING_GRPC_PORT"),
        delivery: at("DELIVERY_GRPC_PORT"),
      });
      expect(mesh).toEqual({
        access: at("ACCESS_MESH_PORT"),
        documents: at("DOCUMENTS_MESH_PORT"),
        phrases: at("PHRASES_MESH_PORT"),
        signing: at("SIGNING_MESH_PORT"),
        delivery: at("DELIVERY_MESH_PORT"),
      });
      expect(ops).toEqual({
        gateway: `http://${at("GATEWAY_OPS_PORT")}`,
        documents: `http://${at("DOCUMENTS_OPS_PORT")}`,
        phrases: `http://${at("PHRASES_OPS_PORT")}`,
        signing: `http://${at("SIGNING_OPS_PORT")}`,
        delivery: `http://${at("DELIVERY_OPS_PORT")}`,
        console: `http://${at("CONSOLE_OPS_PORT")}`,
      });
    });

    it("has the pid of each process in dev.json", async () => {
      const { pids } = (await readDevJson(stateDir))!;
      expect(Object.keys(pids).toSorted()).toEqual([
        "console",
        "delivery",
        "documents",
        "gateway",
        "mongod",
        "nats",
        "phrases",
        "signing",
      ]);
      for (const pid of Object.values(pids)) expect(process.kill(pid, 0)).toBe(true);
    });

    it("gives its opener the content of dev.json", async () => {
      expect(await readDevJson(stateDir)).toEqual(stack.dev);
    });

    it("lets only the owner of dev.json read it", async () => {
      expect((await stat(join(stateDir, "dev.json"))).mode & 0o777).toBe(0o600);
    });

    it("has the tenants demo and rival in dev.json", () => {
      expect(stack.dev.tenants).toMatchObject([{ id: "demo" }, { id: "rival" }]);
    });

    it("answers 201 to a document that is pushed with the API key in dev.json", async () => {
      expect((await push(stack.dev)).status).toBe(201);
    });

    it("refuses a second start in the same folder", async () => {
      await expect(open()).rejects.toThrow("a dev stack already runs here");
    });
  });

  it("keeps a document and the API keys over a restart", async () => {
    const before = await readDevJson(stateDir);
    await using stack = await open();
    expect(stack.dev.tenants).toEqual(before?.tenants);
    expect((await push(stack.dev)).status).toBe(409);
  });

  it("starts without the earlier document and with a new API key when `fresh` is set", async () => {
    const before = await readDevJson(stateDir);
    await using stack = await open(true);
    expect(stack.dev.tenants[0]!.apiKey).not.toBe(before?.tenants[0]!.apiKey);
    expect((await push(stack.dev)).status).toBe(201);
  });

  it("reports once that ports are taken, then fails naming each port and the variable that sets it", async () => {
    const listeners = [createServer(), createServer()];
    listeners[0]!.listen(Number(env["GATEWAY_PORT"]), "127.0.0.1");
    listeners[1]!.listen(Number(env["SIGNING_OPS_PORT"]), "127.0.0.1");
    await Promise.all(listeners.map((server) => once(server, "listening")));
    try {
      const said: string[] = [];
      const fault = await open(false, (line) => said.push(line)).then(
        () => "",
        (error: Error) => error.message,
      );
      expect(fault.split("\n")).toEqual([
        expect.stringMatching(new RegExp(`port ${env["GATEWAY_PORT"]} is taken .*set GATEWAY_PORT`)),
        expect.stringMatching(new RegExp(`port ${env["SIGNING_OPS_PORT"]} is taken .*set SIGNING_OPS_PORT`)),
      ]);
      expect(said).toEqual(["waiting for ports that are taken, for 5 s"]);
    } finally {
      for (const server of listeners) server.close();
    }
  });

  it("refuses a malformed port with an error that names its variable", async () => {
    await expect(openDevStack({ stateDir, env: { ...env, GATEWAY_PORT: "http" }, report: () => {} })).rejects.toThrow(
      'GATEWAY_PORT must be a port from 1 to 65535, not "http"',
    );
  });
});
