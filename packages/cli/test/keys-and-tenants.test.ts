import { durationMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { DomainError } from "@vidimus/kit/errors";
import { scopeDescriptions } from "@vidimus/gateway/access/scopes";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const time = "2026-01-05T10:00:00.000Z";
const past = timestampFromDate(new Date(time));
const future = timestampFromDate(new Date("2999-01-01T00:00:00Z"));
const key = { tenantId: "demo", prefix: "abcdefghijkl", name: "Feed", scopes: ["documents:create"], createdBy: "kari" };
const keys = [
  { ...key, keyId: "k1", createdAt: past, lastUsedAt: past },
  { ...key, keyId: "k2", createdAt: past, expiresAt: future, replacedBy: "k1" },
  { ...key, keyId: "k3", createdAt: past, expiresAt: past },
  { ...key, keyId: "k4", createdAt: past, expiresAt: future, revokedAt: past },
];
let services: Awaited<ReturnType<typeof openTestServices>>;
/** The changes that commands requested of the service. */
const changes: unknown[] = [];

beforeAll(async () => {
  services = await openTestServices(
    route(AccessService, {
      // Answers two pages, as the service does for a tenant with many keys.
      listApiKeys: ({ pageToken, liveOnly }) =>
        liveOnly
          ? { apiKeys: keys.slice(0, 2) }
          : pageToken === ""
            ? { apiKeys: keys.slice(0, 3), nextPageToken: "more" }
            : { apiKeys: keys.slice(3) },
      getApiKey({ tenantId, keyId }) {
        const apiKey = keys.find((each) => each.keyId === keyId);
        if (!apiKey) throw new DomainError("not_found", `tenant "${tenantId}" has no key ${keyId}`);
        return { apiKey };
      },
      disableTenant({ tenantId }, context) {
        if (tenantId !== "demo") throw new DomainError("not_found", `there is no tenant ${tenantId}`);
        changes.push({ tenantId, actor: callContext(context).actor });
        return { tenant: { tenantId, name: "Demo", createdAt: past, disabledAt: past } };
      },
      enableTenant({ tenantId }) {
        changes.push({ tenantId, enabled: true });
        return { tenant: { tenantId, name: "Demo", createdAt: past } };
      },
      updateApiKeyScopes({ tenantId, keyId, scopes }) {
        changes.push({ tenantId, keyId, scopes });
        return { apiKey: { ...key, keyId, scopes } };
      },
      rollApiKey({ tenantId, keyId, overlap }) {
        changes.push({ tenantId, keyId, overlapMs: overlap && durationMs(overlap) });
        const end = overlap && durationMs(overlap) > 0 ? { expiresAt: future } : { revokedAt: past };
        const replaced = { ...key, keyId, replacedBy: "k9", ...end };
        return { apiKey: { ...key, keyId: "k9" }, secret: "vk_new", replaced };
      },
      revokeApiKey({ tenantId, keyId }) {
        changes.push({ tenantId, keyId });
        return { apiKey: { ...key, keyId, revokedAt: past } };
      },
    }),
  );
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(() => void changes.splice(0));

function cli(...argv: string[]) {
  return run([...argv, "--tenant", "demo", "--access", services.target]);
}

test("tenants disable disables the tenant of its argument, not that of --tenant", async () => {
  const { code, stdout } = await run(["tenants", "disable", "demo", "--tenant", "rival", "--access", services.target]);
  expect([code, stdout]).toEqual([0, "tenant demo is shut out since 2026-01-05T10:00:00.000Z\n"]);
  expect(changes).toEqual([{ tenantId: "demo", actor: "cli:kari" }]);
  expect((await cli("tenants", "disable", "demo", "--json")).stdout).toBe(
    '{"id":"demo","disabledAt":"2026-01-05T10:00:00.000Z"}\n',
  );
});

test("tenants disable fails for a tenant that does not exist", async () => {
  expect(await cli("tenants", "disable", "nord")).toMatchObject({
    code: 1,
    stderr: "error: there is no tenant nord\n",
  });
});

test("tenants enable enables the tenant of its argument, not that of --tenant", async () => {
  const { code, stdout } = await cli("tenants", "enable", "nord");
  expect([code, stdout]).toEqual([0, "tenant nord is enabled\n"]);
  expect(changes).toEqual([{ tenantId: "nord", enabled: true }]);
});

test("keys list shows the state of every key", async () => {
  const { stdout } = await cli("keys", "list");
  const states = stdout.split("\n").map((line) => /documents:create {2}(.*?) {2}/.exec(line)?.[1]);
  expect(states).toEqual([undefined, "live", "until 2999-01-01T00:00:00.000Z", "expired", "revoked", undefined]);
});

test("keys list --live shows only valid keys", async () => {
  const { stdout } = await cli("keys", "list", "--live", "--json");
  expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(["k1", "k2"]);
});

test("keys show prints one key with its state", async () => {
  expect((await cli("keys", "show", "k4")).stdout).toMatch(/^state +revoked$/m);
  expect(JSON.parse((await cli("keys", "show", "k2", "--json")).stdout)).toMatchObject({ id: "k2", replacedBy: "k1" });
});

test("keys show fails for a key that the tenant does not have", async () => {
  expect(await cli("keys", "show", "kx")).toMatchObject({ code: 1, stderr: 'error: tenant "demo" has no key kx\n' });
});

test("keys grant adds scopes to those the key holds, each once", async () => {
  await cli("keys", "grant", "k4", "--scopes", "phrases:read");
  expect(changes.splice(0)).toMatchObject([{ keyId: "k4", scopes: ["documents:create", "phrases:read"] }]);
  const { stdout } = await cli("keys", "grant", "k1", "--scopes", "phrases:read,documents:create", "--json");
  const scopes = ["documents:create", "phrases:read"];
  expect(JSON.parse(stdout)).toEqual({ id: "k1", scopes });
  expect(changes).toEqual([{ tenantId: "demo", keyId: "k1", scopes }]);
});

test("keys grant --only removes the scopes that are not named", async () => {
  const { stdout } = await cli("keys", "grant", "k1", "--scopes", "phrases:read", "--only");
  expect(stdout).toBe("key k1 of tenant demo holds phrases:read\n");
  expect(changes).toEqual([{ tenantId: "demo", keyId: "k1", scopes: ["phrases:read"] }]);
});

test("keys grant of a key the tenant does not have changes nothing", async () => {
  expect(await cli("keys", "grant", "kx", "--scopes", "phrases:read")).toMatchObject({
    code: 1,
    stderr: "error: tenant demo has no key kx\n",
  });
  expect(changes).toEqual([]);
});

test.each([
  ["0", 0],
  ["1h", 3_600_000],
  ["24h", 86_400_000],
  ["7d", 604_800_000],
])("keys roll --overlap %s requests an overlap of %s ms", async (overlap, overlapMs) => {
  const { stdout } = await cli("keys", "roll", "k1", "--overlap", overlap, "--json");
  expect(changes).toEqual([{ tenantId: "demo", keyId: "k1", overlapMs }]);
  const ends = { expiresAt: overlapMs ? "2999-01-01T00:00:00.000Z" : null, revokedAt: overlapMs ? null : time };
  const made = { id: "k9", key: "vk_new", scopes: ["documents:create"] };
  expect(JSON.parse(stdout)).toEqual({ ...made, replaced: { id: "k1", ...ends } });
});

test.each([
  ["1h", "works until 2999-01-01T00:00:00.000Z"],
  ["0", "opens nothing any more"],
])("keys roll --overlap %s says that the old key %s", async (overlap, words) => {
  const { stdout } = await cli("keys", "roll", "k1", "--overlap", overlap);
  expect(stdout).toBe(
    `key k9 takes the place of k1, which ${words}. Keep the new one: it is not shown again.\n\nvk_new\n`,
  );
});

test.each([[[]], [["--overlap", "2h"]], [["--overlap", ""]]])(
  "keys roll with the options %j is a wrong command line: exit 2, without a new key",
  async (argv) => {
    expect((await cli("keys", "roll", "k1", ...argv)).code).toBe(2);
    expect(changes).toEqual([]);
  },
);

test("keys revoke ends a key", async () => {
  const { code, stdout } = await cli("keys", "revoke", "k1", "--json");
  expect([code, JSON.parse(stdout)]).toEqual([0, { id: "k1", revokedAt: "2026-01-05T10:00:00.000Z" }]);
  expect(changes).toEqual([{ tenantId: "demo", keyId: "k1" }]);
});

test("the help of keys create says what each scope allows", async () => {
  const { stdout } = await run(["keys", "create", "--help"]);
  const listed = [...stdout.matchAll(/^ {2}([a-z]+:[a-z]+) +(.+)$/gm)].map(([, scope, text]) => [scope, text]);
  const described = Object.entries(scopeDescriptions).map(([scope, text]) => [
    scope,
    text.charAt(0).toLowerCase() + text.slice(1, -1),
  ]);
  expect(listed).toEqual(described);
});
