import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { patient } from "@vidimus/kit/testing/patient";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { openReceiver } from "../support/receiver.ts";
import { vidimus } from "../support/vidimus.ts";

let stack: Constellation;
/** A folder with the dev.json of the constellation. */
let cwd: string;

beforeAll(async () => {
  stack = await openConstellation({ mongoUrl: inject("mongoUrl") });
  cwd = await mkdtemp(join(tmpdir(), "vidimus-command-line-"));
  await mkdir(join(cwd, ".vidimus"));
  await writeFile(join(cwd, ".vidimus", "dev.json"), JSON.stringify(stack.dev), { mode: 0o600 });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await rm(cwd, { recursive: true, force: true });
});

async function vidimusJson(argv: readonly string[], stdin = "") {
  const { code, stdout, stderr } = await vidimus([...argv, "--json"], { cwd, stdin });
  return { code, result: stdout === "" ? undefined : (JSON.parse(stdout) as unknown), stderr };
}

const linesOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The status that the public API answers to a key. */
async function statusFor(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${stack.dev.gateway}/v1/documents?type=core/article`, { headers })).status;
}

/** Every check of doctor, so that a test fails when one disappears. */
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
  "webhooks",
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

/**
 * Whether a finding is not ok. A warning about mongod counts as ok, because mongod's patch level
 * depends on this machine.
 */
function needsAttention({ check, status }: { check: string; status: string }): boolean {
  return status !== "ok" && !(check === "mongodb" && status === "warning");
}

test("doctor runs each check on a healthy constellation, and at most warns of mongod's patch level", async () => {
  const { code, result } = await vidimusJson(["doctor"]);
  const { findings } = result as { findings: { check: string; status: string; finding: string }[] };
  expect(findings.filter(needsAttention)).toEqual([]);
  expect([code, findings.map(({ check }) => check.replace(/:\d+$/, ""))]).toEqual([0, checks]);
});

test("a key is created, granted a scope, rolled and revoked, and the public API follows within 5 s", async () => {
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

test("doctor finds one thing broken: the gateway refuses the key of a disabled tenant", async () => {
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

test("a document is created, edited, published and listed, and its history names who did what", async () => {
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
    { action: "create", actor: expect.stringMatching(/^key:/), version: 1, from: null, to: "draft" },
  ]);
});

test("signing keys are listed, prepared, retired, activated and revoked", async () => {
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
});

test("signing-keys rewrap reports no change when the current KEK wraps each private key", async () => {
  const rewrapped = await vidimusJson(["signing-keys", "rewrap"]);
  expect(rewrapped).toMatchObject({ code: 0, result: { privateKeys: 3, changed: false } });
});

test("signing-keys audit shows the ledger's head, and compares the ledger with documents' signatures", async () => {
  const audit = await vidimusJson(["signing-keys", "audit"]);
  const count = expect.any(Number);
  const documents = { signatures: count, outdated: count, unsettled: count, revoked: count };
  expect(audit).toMatchObject({
    code: 0,
    result: { batches: expect.any(Number), head: expect.any(String), documents },
  });
});

test("signing-keys audit fails when no batch has the head that --head names", async () => {
  const broken = await vidimusJson(["signing-keys", "audit", "--head", "0".repeat(64)]);
  expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining("no batch has the noted head")]);
});

test("a failing receiver is seen in documents show, endpoints show, doctor and deliveries tail", async () => {
  await using receiver = await openReceiver();
  receiver.answerWith(() => 503);
  const made = await vidimusJson(["endpoints", "create", "--url", receiver.url, "--types", "core/tag"]);
  const { id: endpointId } = made.result as { id: string };
  const document = { id: randomUUID(), type: "core/tag", title: "Vind", meta: { slug: randomUUID() } };
  await vidimusJson(["documents", "create", "-"], JSON.stringify(document));
  const unsent = await vidimusJson(["documents", "show", document.id]);
  expect(unsent.result).toMatchObject({ webhooks: [] });

  const interrupt = Promise.withResolvers<void>();
  let looks = 0;
  const tailing = vidimus(["deliveries", "tail", "--endpoint", endpointId, "--json"], {
    cwd,
    sleep: async () => {
      looks += 1;
      await pause(50);
    },
    interrupted: interrupt.promise,
  });
  await vidimusJson(["documents", "publish", document.id]);
  const shown = await vi.waitFor(async () => {
    const { result } = await vidimusJson(["documents", "show", document.id]);
    expect(result).toMatchObject({ webhooks: [{ endpointId, url: receiver.url, lastAttempt: { status: 503 } }] });
    return (result as { webhooks: { states: object; nextAttemptAt: string }[] }).webhooks[0]!;
  }, 20_000);
  expect([shown.states, shown.nextAttemptAt]).toEqual([{ pending: 1 }, expect.stringMatching(/Z$/)]);
  const text = await vidimus(["documents", "show", document.id], { cwd });
  expect(text.stdout).toMatch(/\nwebhooks   1 pending; last attempt .*Z 503; next attempt .*Z; endpoint /);
  const health = await vidimus(["endpoints", "show", endpointId], { cwd });
  expect(health.stdout).toMatch(
    /pending +of 1 documents, the oldest since .*\nlast accepted +never.*\nlast failure .* 503/,
  );

  const [delivery] = (await vidimusJson(["deliveries", "list", "--endpoint", endpointId])).result as { id: string }[];
  // Five failures in a row open the breaker. Each redelivery is an attempt, since it waits for no
  // backoff.
  const stuck = await vi.waitFor(async () => {
    await vidimusJson(["deliveries", "redeliver", delivery!.id]);
    const { code, result } = await vidimusJson(["doctor"]);
    const { findings } = result as { findings: { check: string; status: string; finding: string; remedy: string }[] };
    const found = findings.find(({ check, finding }) => check === "webhooks" && finding.includes(" fails since "));
    expect([code, found]).toEqual([0, expect.objectContaining({ status: "warning" })]);
    return found!;
  }, 30_000);
  expect(stuck.finding).toContain(`endpoint ${endpointId} (${new URL(receiver.url).host})`);
  expect(stuck.finding).toContain("last error: 503");
  expect(stuck.remedy).toContain(`vidimus endpoints test ${endpointId}`);

  receiver.answerWith(() => 204);
  expect((await vidimusJson(["endpoints", "test", endpointId])).code).toBe(0);
  await vi.waitFor(async () => {
    const { result } = await vidimusJson(["documents", "show", document.id]);
    expect(result).toMatchObject({ webhooks: [{ states: { delivered: 1 }, lastAttempt: { status: 204 } }] });
  }, 20_000);
  await vi.waitFor(async () => {
    const { findings } = (await vidimusJson(["doctor"])).result as { findings: { check: string; status: string }[] };
    expect(findings.find(({ check }) => check === "webhooks")).toMatchObject({ status: "ok" });
  }, 20_000);
  const looked = looks;
  await vi.waitUntil(() => looks > looked + 1, 20_000);
  interrupt.resolve();
  const tailed = await tailing;
  expect(tailed.code).toBe(0);
  const lines = linesOf(tailed.stdout);
  expect(lines).toContainEqual(expect.objectContaining({ lastAttempt: expect.objectContaining({ status: 503 }) }));
  const states = lines.map(({ id, state }) => [id, state]);
  expect(states[0]).toEqual([delivery!.id, "pending"]);
  expect(states.at(-1)).toEqual([delivery!.id, "delivered"]);
  expect(states.slice(0, -1).every(([, state]) => state === "pending")).toBe(true);
  await vidimusJson(["endpoints", "delete", endpointId]);
});

test("deliveries and endpoints are printed with --json as the public API answers them", async () => {
  await using receiver = await openReceiver();
  const made = await vidimusJson(["endpoints", "create", "--url", receiver.url, "--types", "core/tag"]);
  const { id: endpointId } = made.result as { id: string };
  const document = { id: randomUUID(), type: "core/tag", title: "Regn", meta: { slug: randomUUID() } };
  await vidimusJson(["documents", "create", "-"], JSON.stringify(document));
  await vidimusJson(["documents", "publish", document.id]);
  const deliveryId = await vi.waitFor(async () => {
    const { result } = await vidimusJson(["deliveries", "list", "--endpoint", endpointId]);
    expect(result).toMatchObject([{ state: "delivered" }]);
    return (result as { id: string }[])[0]!.id;
  }, 20_000);
  const ofCli = async (...argv: string[]) => (await vidimusJson(argv)).result;
  expect(await ofCli("deliveries", "show", deliveryId)).toEqual(await dataOf(`/deliveries/${deliveryId}`));
  const { items } = await dataOf(`/deliveries?endpointId=${endpointId}`);
  expect(await ofCli("deliveries", "list", "--endpoint", endpointId)).toEqual(items);
  const { endpoint } = await dataOf(`/endpoints/${endpointId}`);
  expect(await ofCli("endpoints", "show", endpointId)).toEqual(endpoint);
  expect(await ofCli("endpoints", "list")).toEqual((await dataOf("/endpoints"))["endpoints"]);
  await vidimusJson(["endpoints", "delete", endpointId]);
});

describe("audit list", { timeout: 60_000 }, () => {
  const audit = async (...argv: string[]) => (await vidimusJson(["audit", "list", ...argv])).result as object[];

  /** Makes an endpoint, then a key, then a signing key. Returns their ids. */
  async function makeOneOfEach() {
    const idOf = async (...argv: string[]) => ((await vidimusJson(argv)).result as { id: string }).id;
    const endpoint = await idOf("endpoints", "create", "--url", "http://127.0.0.1:9/");
    const key = await idOf("keys", "create", "--name", "audited", "--scopes", "phrases:read");
    return { endpoint, key, signingKey: await idOf("signing-keys", "prepare") };
  }

  test("shows who changed what in all services, newest first", async () => {
    const { endpoint, key, signingKey } = await makeOneOfEach();
    const by = { actor: expect.stringMatching(/^cli:/), role: "admin", from: "127.0.0.1", keyPrefix: null };
    const detail = { scopes: ["phrases:read"] };
    expect(await audit("--limit", "3")).toMatchObject([
      { service: "signing", ...by, tenant: null, subject: signingKey },
      { service: "access", ...by, tenant: "demo", action: "create_key", subject: key, detail },
      { service: "delivery", ...by, tenant: "demo", action: "create_endpoint", subject: endpoint },
    ]);
  });

  test("gives only the changes of the service, actor or action that is asked for", async () => {
    const { endpoint, key } = await makeOneOfEach();
    const byKari = ["--service", "delivery", "--actor", "cli:kari", "--limit", "1"];
    expect(await audit(...byKari)).toMatchObject([{ service: "delivery", subject: endpoint }]);
    expect(await audit("--action", "create_key", "--limit", "1")).toMatchObject([{ subject: key }]);
    for (const service of ["documents", "delivery"]) {
      expect(await audit("--service", service, "--actor", "nobody")).toEqual([]);
    }
  });

  test("of a service that keeps no audit log is refused", async () => {
    expect((await vidimus(["audit", "list", "--service", "phrases"], { cwd })).code).toBe(2);
  });
});

test("audit list names a service that cannot be read, fails, and prints the entries of the others", async () => {
  await vidimusJson(["endpoints", "create", "--url", "http://127.0.0.1:9/"]);
  await vidimusJson(["keys", "create", "--name", "audited", "--scopes", "phrases:read"]);
  const away = await vidimusJson(["audit", "list", "--limit", "2", "--signing", "127.0.0.1:1"]);
  expect([away.code, away.stderr]).toEqual([1, expect.stringContaining("not read: the signing service")]);
  expect(away.result).toMatchObject([{ service: "access" }, { service: "delivery" }]);
});

test("doctor accepts the trust list under a root once that root has delegated to the list key", async () => {
  const of = async (...argv: string[]) => {
    const { code, result, stderr } = await vidimusJson(["trust-root", ...argv]);
    expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: "" });
    return result as Record<"root" | "publicKey" | "delegation" | "delegatedUntil", string>;
  };
  const found = async (root: string) => {
    const { findings } = (await vidimusJson(["doctor", "--root", root])).result as { findings: { check: string }[] };
    return findings.find(({ check }) => check === "trust list");
  };
  const { root } = await of("create", "root.pem");
  const other = await of("create", "other.pem");
  expect(await found(root)).toMatchObject({ status: "broken", finding: expect.stringContaining("is refused: chain") });
  const { publicKey } = await of("show");
  const { delegation } = await of("delegate", "root.pem", "--list-key", publicKey, "--days", "90");
  const { delegatedUntil } = await of("install", delegation, "--root", root);
  const finding = expect.stringContaining(`delegated until ${delegatedUntil}`);
  await vi.waitFor(async () => expect(await found(root)).toMatchObject({ status: "ok", finding }), patient);
  expect(await found(other.root)).toMatchObject({ status: "broken" });
  expect(await vidimusJson(["trust-root", "install", delegation, "--root", other.root])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("was not signed by this root"),
  });
});

/** What the public API answers at a path of webhooks; `--json` prints the same. */
async function dataOf(path: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${stack.dev.tenants[0]!.apiKey}` };
  const answer = await fetch(`${stack.dev.gateway}/v1/webhooks${path}`, { headers });
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
}
