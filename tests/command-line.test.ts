import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { vidimus } from "./support/vidimus.ts";

let stack: Constellation;
/** A folder with the dev.json of the constellation. */
let cwd: string;

beforeAll(async () => {
  stack = await openConstellation({ mongoUrl: inject("mongoUrl") });
  cwd = await mkdtemp(join(tmpdir(), "vidimus-command-line-"));
  await mkdir(join(cwd, ".vidimus"));
  await writeFile(join(cwd, ".vidimus", "dev.json"), JSON.stringify(stack.dev));
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true, force: true });
});

async function vidimusJson(argv: readonly string[], stdin = "") {
  const { code, stdout, stderr } = await vidimus([...argv, "--json"], { cwd, stdin });
  return { code, result: stdout === "" ? undefined : (JSON.parse(stdout) as unknown), stderr };
}

/** The status that the public API answers to a key. */
async function statusFor(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${stack.dev.gateway}/v1/documents?type=core/article`, { headers })).status;
}

/** Every check, so that a test fails when one disappears. */
const checks = [
  "gateway",
  "clock of the gateway",
  "trust list",
  "API key",
  "documents by HTTP",
  "phrases by HTTP",
  "write budget",
  "access rpc",
  "documents rpc",
  "phrases rpc",
  "delivery rpc",
  "access mesh",
  "documents mesh",
  "phrases mesh",
  "signing mesh",
  "delivery mesh",
  "gateway ops",
  "gateway node",
  "contract",
  "documents ops",
  "documents node",
  "phrases ops",
  "phrases node",
  "signing ops",
  "signing node",
  "delivery ops",
  "delivery node",
  "mongodb",
  "clock of mongodb",
  "nats 127.0.0.1",
];

test("doctor finds nothing wrong with a healthy constellation", async () => {
  const { code, result } = await vidimusJson(["doctor"]);
  const { findings } = result as { findings: { check: string; status: string; finding: string }[] };
  expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
  expect([code, findings.map(({ check }) => check.replace(/:\d+$/, ""))]).toEqual([0, checks]);
});

test("a key is created, granted more, rolled and revoked, and the public API answers accordingly", async () => {
  const made = await vidimusJson(["keys", "create", "--name", "Feed", "--scopes", "documents:create"]);
  const old = made.result as { id: string; key: string };
  expect(await statusFor(old.key)).toBe(403);

  const granted = await vidimusJson(["keys", "grant", old.id, "--scopes", "publisher:read"]);
  expect(granted.result).toEqual({ id: old.id, scopes: ["documents:create", "publisher:read"] });
  await vi.waitFor(async () => expect(await statusFor(old.key)).toBe(200), 5_000);

  const rolled = (await vidimusJson(["keys", "roll", old.id, "--overlap", "1h"])).result as { id: string; key: string };
  expect([await statusFor(old.key), await statusFor(rolled.key)]).toEqual([200, 200]);

  expect((await vidimusJson(["keys", "revoke", old.id])).code).toBe(0);
  await vi.waitFor(async () => expect(await statusFor(old.key)).toBe(401), 5_000);
  expect(await statusFor(rolled.key)).toBe(200);
});

test("a disabled tenant's keys are refused, and doctor names a refused key as the fault", async () => {
  await vidimusJson(["tenants", "create", "--id", "nord", "--name", "Nordlys"]);
  const made = await vidimusJson(["keys", "create", "--tenant", "nord", "--name", "All", "--scopes", "publisher:read"]);
  const { key } = made.result as { key: string };
  expect(await statusFor(key)).toBe(200);
  await vidimusJson(["tenants", "disable", "nord"]);
  await vi.waitFor(async () => expect(await statusFor(key)).toBe(401), 5_000);

  const { code, result, stderr } = await vidimusJson(["doctor", "--key", key]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: 1 of \d+ checks found something broken\n$/)]);
  expect(result).toMatchObject({
    broken: 1,
    findings: expect.arrayContaining([
      {
        check: "API key",
        status: "broken",
        finding: "the gateway refuses the key",
        remedy: expect.stringContaining("revoked, expired, or its tenant is disabled"),
      },
    ]),
  });
});

test("a document is pushed, edited and listed, and its history names the user", async () => {
  const id = randomUUID();
  await vidimusJson(
    ["documents", "create", "-"],
    JSON.stringify({ id, type: "core/tag", title: "Sport", meta: { slug: id } }),
  );
  const edited = await vidimusJson(
    ["documents", "update", id, "-"],
    JSON.stringify({ title: "Idrett", meta: { slug: id } }),
  );
  expect(edited.result).toEqual({ id, version: 2, status: "draft" });
  const stale = await vidimusJson(
    ["documents", "update", id, "-", "--version", "1"],
    JSON.stringify({ title: "Sport" }),
  );
  expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining("version 2")]);
  await vidimusJson(["documents", "publish", id]);

  const { result } = await vidimusJson(["documents", "list", "--type", "core/tag", "--status", "usable"]);
  expect(result).toMatchObject([
    { id, version: 2, status: "usable", title: "Idrett", lastPublished: { version: 2, status: "usable" } },
  ]);
  const history = await vidimusJson(["documents", "history", id]);
  expect(history.result).toMatchObject([
    { action: "publish", actor: "cli:kari", role: "admin", version: 2, from: "draft", to: "usable" },
    { action: "update", actor: "cli:kari", version: 2, to: "draft" },
    { action: "create", version: 1, from: null, to: "draft" },
  ]);
});

test("signing keys are listed, published, retired, activated, revoked, and what they signed is audited", async () => {
  const states = async () =>
    ((await vidimusJson(["signing-keys", "list"])).result as { state: string }[]).map(({ state }) => state);
  expect(await states()).toEqual(["active", "pending"]);
  const { id, state } = (await vidimusJson(["signing-keys", "prepare"])).result as { id: string; state: string };
  expect(state).toBe("pending");
  const early = await vidimusJson(["signing-keys", "activate", id]);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("may sign from")]);
  expect(await vidimusJson(["signing-keys", "retire", id])).toMatchObject({ code: 0, result: { state: "retired" } });
  const [first, standby] = (await vidimusJson(["signing-keys", "list"])).result as { id: string }[];
  const activated = await vidimusJson(["signing-keys", "activate", standby!.id, "--emergency"]);
  expect(activated).toMatchObject({ code: 0, result: { id: standby!.id, state: "active" } });
  const revoked = await vidimusJson(["signing-keys", "revoke", first!.id]);
  expect(revoked).toMatchObject({ code: 0, result: { state: "revoked", active: standby!.id } });
  expect(await states()).toEqual(["revoked", "active", "retired", "pending"]);
  const audit = await vidimusJson(["signing-keys", "audit"]);
  const count = expect.any(Number);
  const documents = { signatures: count, outdated: count, unsettled: count, revoked: count };
  expect(audit).toMatchObject({
    code: 0,
    result: { batches: expect.any(Number), head: expect.any(String), documents },
  });
  const rewrapped = await vidimusJson(["signing-keys", "rewrap"]);
  expect(rewrapped).toMatchObject({ code: 0, result: { privateKeys: 2, changed: false } });
  const broken = await vidimusJson(["signing-keys", "audit", "--head", "0".repeat(64)]);
  expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining("no batch has the noted head")]);
});
