import { durationFromMs, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { hashApiKey } from "../src/access/api-key.ts";
import { scopes } from "../src/access/scopes.ts";
import { accessCollections } from "../src/store/access-database.ts";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { accessClient, bearer, newKey, openGateway } from "./support/start-gateway.ts";

let gateway: Awaited<ReturnType<typeof openGateway>>;
let second: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;
let access: ReturnType<typeof accessClient>;
let mongo: Awaited<ReturnType<typeof openMongo>>;

beforeAll(async () => {
  rpc = await serve(new FakeDocuments().routes());
  gateway = await openGateway({ documentsTarget: `127.0.0.1:${rpc.port}` });
  second = await openGateway({ ...gateway.config, grpcPort: 0, meshPort: 0, httpPort: 0, opsPort: 0 });
  mongo = await openMongo({ url: inject("mongoUrl"), database: gateway.config.database, appName: "test" });
  access = gateway.access;
  await access.createTenant({ tenantId: "acme", name: "Acme" });
});

afterAll(async () => {
  await mongo[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

async function read(key: string, of = gateway): Promise<number> {
  const response = await fetch(`${of.url}/v1/documents?type=core/tag`, { headers: bearer(key) });
  await response.text();
  return response.status;
}

const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: { code: Code; message: string }) => error,
  );

/** A message as text, with the bigints of its timestamps. */
const textOf = (message: unknown) =>
  JSON.stringify(message, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));

describe("CreateTenant", () => {
  test("a new tenant is listed with its name, trimmed", async () => {
    await access.createTenant({ tenantId: "beta_2", name: " Beta " });
    const { tenants } = await access.listTenants({});
    expect(tenants.map(({ tenantId, name }) => [tenantId, name])).toEqual([
      ["acme", "Acme"],
      ["beta_2", "Beta"],
    ]);
  });

  test("an id that is taken is ALREADY_EXISTS", async () => {
    expect(await failure(access.createTenant({ tenantId: "acme", name: "x" }))).toMatchObject({
      code: Code.AlreadyExists,
    });
  });

  test.each(["", "Acme", "1acme", "a-b", "a".repeat(33), "acme\n"])("%j is no tenant id", async (tenantId) => {
    expect(await failure(access.createTenant({ tenantId, name: "x" }))).toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("CreateApiKey", () => {
  test("a key's hash is stored, but the key's secret part neither among the keys nor in the audit", async () => {
    const { apiKey, secret } = await access.createApiKey({
      tenantId: "acme",
      name: "site",
      scopes: ["publisher:read"],
    });
    expect(await read(secret)).toBe(200);
    const row = await accessCollections(mongo.db).apiKeys.findOne({ prefix: secret.split("_")[1]! });
    expect(row).toMatchObject({ _id: apiKey!.keyId, tenantId: "acme", createdBy: "ada", hashAlg: "sha256" });
    expect(Buffer.from(row!.hash.value()).equals(hashApiKey(secret))).toBe(true);
    const everything = JSON.stringify(await mongo.db.collection("api_keys").find().toArray());
    const audit = JSON.stringify(
      await mongo.client.db(`${mongo.db.databaseName}_audit`).collection("entries").find().toArray(),
    );
    for (const text of [everything, audit]) expect(text).not.toContain(secret.slice(-49));
  });

  test.each([
    ["a scope outside of the closed set", ["documents:*"]],
    ["a key without a scope", []],
  ])("%s is INVALID_ARGUMENT", async (_, scopes) => {
    const request = { tenantId: "acme", name: "x", scopes };
    expect(await failure(access.createApiKey(request))).toMatchObject({ code: Code.InvalidArgument });
  });

  test("a tenant that does not exist is NOT_FOUND", async () => {
    const request = { tenantId: "nobody", name: "x", scopes: ["publisher:read"] };
    expect(await failure(access.createApiKey(request))).toMatchObject({ code: Code.NotFound });
  });

  test("a key is refused after its expiry", async () => {
    const request = { tenantId: "acme", name: "x", scopes: ["publisher:read"] };
    const soon = await access.createApiKey({ ...request, expiresAt: timestampFromMs(Date.now() + 1_000) });
    expect(await read(soon.secret)).toBe(200);
    await vi.waitFor(async () => expect(await read(soon.secret)).toBe(401), { timeout: 5_000 });
  });

  test("an expiry that is not in the future is INVALID_ARGUMENT", async () => {
    const request = { tenantId: "acme", name: "x", scopes: ["publisher:read"] };
    const late = { ...request, expiresAt: timestampFromMs(Date.now()) };
    expect(await failure(access.createApiKey(late))).toMatchObject({ code: Code.InvalidArgument });
  });

  test("a tenant has at most 50 live keys, also when many are asked for at once", async () => {
    await access.createTenant({ tenantId: "crowd", name: "Crowd" });
    const create = () => access.createApiKey({ tenantId: "crowd", name: "x", scopes: ["publisher:read"] });
    for (let n = 0; n < 44; n += 1) await create();
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, create));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(6);
    const { apiKeys } = await access.listApiKeys({ tenantId: "crowd" });
    expect(apiKeys).toHaveLength(50);
    await access.revokeApiKey({ tenantId: "crowd", keyId: apiKeys[0]!.keyId });
    await create();
    expect(await failure(create())).toMatchObject({ code: Code.FailedPrecondition });
  });
});

describe("ListApiKeys", () => {
  test("valid and revoked keys are listed together, newest first", async () => {
    await access.createTenant({ tenantId: "list", name: "List" });
    const request = { tenantId: "list", scopes: ["publisher:read"] };
    const first = await access.createApiKey({ ...request, name: "first" });
    await access.createApiKey({ ...request, name: "second" });
    await access.revokeApiKey({ tenantId: "list", keyId: first.apiKey!.keyId });
    const { apiKeys } = await access.listApiKeys({ tenantId: "list" });
    expect(apiKeys.map(({ name, revokedAt }) => [name, revokedAt !== undefined])).toEqual([
      ["second", false],
      ["first", true],
    ]);
  });

  test("no secret of a key is shown", async () => {
    await access.createApiKey({ tenantId: "acme", name: "hidden", scopes: ["publisher:read"] });
    const { apiKeys } = await access.listApiKeys({ tenantId: "acme" });
    expect(apiKeys).toContainEqual(expect.objectContaining({ name: "hidden" }));
    expect(textOf(apiKeys)).not.toContain("vk_");
  });

  test("pages with live_only contain neither revoked nor expired keys", async () => {
    await access.createTenant({ tenantId: "live", name: "Live" });
    const request = { tenantId: "live", scopes: ["publisher:read"] };
    for (const name of ["a", "b", "c", "d"]) await access.createApiKey({ ...request, name });
    const soon = timestampFromMs(Date.now() + 1_000);
    await access.createApiKey({ ...request, name: "ends", expiresAt: soon });
    const { apiKeys: all } = await access.listApiKeys({ tenantId: "live" });
    await access.revokeApiKey({ tenantId: "live", keyId: all.find(({ name }) => name === "b")!.keyId });
    const namesOfPage = async (pageToken = "") => {
      const page = await access.listApiKeys({ tenantId: "live", liveOnly: true, limit: 2, pageToken });
      return { names: page.apiKeys.map(({ name }) => name), next: page.nextPageToken };
    };
    await vi.waitFor(async () => expect((await namesOfPage()).names).toEqual(["d", "c"]), 5_000);
    const { next } = await namesOfPage();
    expect(await namesOfPage(next)).toEqual({ names: ["a"], next: "" });
  });

  test("of a tenant that does not exist is NOT_FOUND", async () => {
    expect(await failure(access.listApiKeys({ tenantId: "nobody" }))).toMatchObject({ code: Code.NotFound });
  });
});

describe("GetApiKey", () => {
  const create = () => access.createApiKey({ tenantId: "acme", name: "one", scopes: ["publisher:read"] });

  test("answers a key without its secret", async () => {
    const { apiKey } = await create();
    const found = await access.getApiKey({ tenantId: "acme", keyId: apiKey!.keyId });
    expect(found.apiKey).toEqual(apiKey);
    expect(textOf(found)).not.toContain("vk_");
  });

  test("of another tenant's key is NOT_FOUND", async () => {
    const { keyId } = (await create()).apiKey!;
    expect(await failure(access.getApiKey({ tenantId: "beta_2", keyId }))).toMatchObject({ code: Code.NotFound });
  });
});

describe("ListScopes", () => {
  test("names every scope that a key may have, each with a description", async () => {
    const listed = await access.listScopes({});
    expect(listed.scopes.map(({ name }) => name)).toEqual(scopes);
    expect(listed.scopes.filter(({ description }) => description === "")).toEqual([]);
  });
});

describe("RevokeApiKey", () => {
  test("a revoked key is refused on every gateway within a second", async () => {
    const { apiKey, secret } = await access.createApiKey({ tenantId: "acme", name: "x", scopes: ["publisher:read"] });
    expect([await read(secret), await read(secret, second)]).toEqual([200, 200]);
    await access.revokeApiKey({ tenantId: "acme", keyId: apiKey!.keyId });
    const at = Date.now();
    expect(await read(secret)).toBe(401);
    await vi.waitFor(async () => expect(await read(secret, second)).toBe(401), { timeout: 1_000, interval: 5 });
    expect(Date.now() - at).toBeLessThan(1_000);
  });

  test("a key that is revoked twice keeps the time of the first revocation", async () => {
    const { apiKey } = await access.createApiKey({ tenantId: "acme", name: "x", scopes: ["publisher:read"] });
    const request = { tenantId: "acme", keyId: apiKey!.keyId };
    const once = await access.revokeApiKey(request);
    const twice = await access.revokeApiKey(request);
    expect(once.apiKey!.revokedAt).toBeDefined();
    expect(twice.apiKey!.revokedAt).toEqual(once.apiKey!.revokedAt);
  });

  test("another tenant's key is NOT_FOUND and goes on working", async () => {
    const { apiKey, secret } = await access.createApiKey({ tenantId: "acme", name: "x", scopes: ["publisher:read"] });
    const request = { tenantId: "beta_2", keyId: apiKey!.keyId };
    expect(await failure(access.revokeApiKey(request))).toMatchObject({ code: Code.NotFound });
    expect(await read(secret)).toBe(200);
  });
});

describe("UpdateApiKeyScopes", () => {
  test("a scope that is added to a key is in force on every gateway within a second", async () => {
    const { apiKey, secret } = await access.createApiKey({ tenantId: "acme", name: "x", scopes: ["phrases:read"] });
    expect([await read(secret), await read(secret, second)]).toEqual([403, 403]);
    const request = { tenantId: "acme", keyId: apiKey!.keyId, scopes: ["publisher:read", "phrases:read"] };
    const changed = await access.updateApiKeyScopes(request);
    expect(changed.apiKey!.scopes).toEqual(["publisher:read", "phrases:read"]);
    expect(await read(secret)).toBe(200);
    await vi.waitFor(async () => expect(await read(secret, second)).toBe(200), { timeout: 1_000, interval: 5 });
  });

  test("a key that was revoked is FAILED_PRECONDITION", async () => {
    const { apiKey } = await access.createApiKey({ tenantId: "acme", name: "x", scopes: ["phrases:read"] });
    const { keyId } = apiKey!;
    await access.revokeApiKey({ tenantId: "acme", keyId });
    const request = { tenantId: "acme", keyId, scopes: ["publisher:read"] };
    expect(await failure(access.updateApiKeyScopes(request))).toMatchObject({ code: Code.FailedPrecondition });
  });
});

describe("RollApiKey", () => {
  const scopes = ["publisher:read"];

  test("without overlap the old key ends on every gateway", async () => {
    const old = await access.createApiKey({ tenantId: "acme", name: "x", scopes });
    expect([await read(old.secret), await read(old.secret, second)]).toEqual([200, 200]);
    await access.rollApiKey({ tenantId: "acme", keyId: old.apiKey!.keyId });
    expect(await read(old.secret)).toBe(401);
    await vi.waitFor(async () => expect(await read(old.secret, second)).toBe(401), { timeout: 1_000, interval: 5 });
  });

  test("the new key has the name and the scopes of the old one", async () => {
    const old = await access.createApiKey({ tenantId: "acme", name: "roll me", scopes });
    const rolled = await access.rollApiKey({ tenantId: "acme", keyId: old.apiKey!.keyId });
    expect(await read(rolled.secret)).toBe(200);
    expect(rolled.apiKey).toMatchObject({ name: "roll me", scopes });
    expect(rolled.replaced).toMatchObject({ keyId: old.apiKey!.keyId, replacedBy: rolled.apiKey!.keyId });
  });

  test("with an overlap both keys work, and the old one's expiry is the overlap's end", async () => {
    const old = await access.createApiKey({ tenantId: "acme", name: "x", scopes });
    const overlap = durationFromMs(3_600_000);
    const before = Date.now();
    const rolled = await access.rollApiKey({ tenantId: "acme", keyId: old.apiKey!.keyId, overlap });
    expect([await read(old.secret), await read(rolled.secret)]).toEqual([200, 200]);
    const end = timestampDate(rolled.replaced!.expiresAt!).getTime();
    expect(end).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });

  test("a key that was rolled before is FAILED_PRECONDITION during its overlap", async () => {
    const old = await access.createApiKey({ tenantId: "acme", name: "x", scopes });
    const request = { tenantId: "acme", keyId: old.apiKey!.keyId };
    await access.rollApiKey({ ...request, overlap: durationFromMs(3_600_000) });
    expect(await failure(access.rollApiKey(request))).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("an overlap that ends after the old key's expiry does not extend that expiry", async () => {
    const expiresAt = timestampFromMs(Date.now() + 60_000);
    const old = await access.createApiKey({ tenantId: "acme", name: "x", scopes, expiresAt });
    const overlap = durationFromMs(86_400_000);
    const rolled = await access.rollApiKey({ tenantId: "acme", keyId: old.apiKey!.keyId, overlap });
    expect(rolled.replaced!.expiresAt).toEqual(old.apiKey!.expiresAt);
  });

  test("the new key gets the lifetime that the old one got", async () => {
    const expiresAt = timestampFromMs(Date.now() + 60_000);
    const old = await access.createApiKey({ tenantId: "acme", name: "x", scopes, expiresAt });
    const overlap = durationFromMs(86_400_000);
    const rolled = await access.rollApiKey({ tenantId: "acme", keyId: old.apiKey!.keyId, overlap });
    const life =
      timestampDate(rolled.apiKey!.expiresAt!).getTime() - timestampDate(rolled.apiKey!.createdAt!).getTime();
    expect(life).toBe(
      timestampDate(old.apiKey!.expiresAt!).getTime() - timestampDate(old.apiKey!.createdAt!).getTime(),
    );
  });

  test("an overlap outside of the closed list is INVALID_ARGUMENT", async () => {
    const old = await access.createApiKey({ tenantId: "acme", name: "x", scopes });
    const request = { tenantId: "acme", keyId: old.apiKey!.keyId, overlap: durationFromMs(1_000) };
    expect(await failure(access.rollApiKey(request))).toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("DisableTenant", () => {
  test("ends a key of the tenant on every gateway within a second", async () => {
    const key = await newKey(access, "gone");
    expect([await read(key), await read(key, second)]).toEqual([200, 200]);
    await access.disableTenant({ tenantId: "gone" });
    expect(await read(key)).toBe(401);
    await vi.waitFor(async () => expect(await read(key, second)).toBe(401), { timeout: 1_000, interval: 5 });
  });

  test("allows no new key", async () => {
    await access.createTenant({ tenantId: "closed", name: "Closed" });
    await access.disableTenant({ tenantId: "closed" });
    const request = { tenantId: "closed", name: "x", scopes: ["publisher:read"] };
    expect(await failure(access.createApiKey(request))).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("is undone by EnableTenant: a key of the tenant is valid again on every gateway", async () => {
    await access.createTenant({ tenantId: "back", name: "Back" });
    const key = await newKey(access, "back");
    await access.disableTenant({ tenantId: "back" });
    expect(await read(key)).toBe(401);
    const { tenant } = await access.enableTenant({ tenantId: "back" });
    expect(tenant).toMatchObject({ tenantId: "back", name: "Back" });
    expect(tenant?.disabledAt).toBeUndefined();
    await access.enableTenant({ tenantId: "back" });
    expect(await read(key)).toBe(200);
    await vi.waitFor(async () => expect(await read(key, second)).toBe(200), { timeout: 1_000, interval: 5 });
    await newKey(access, "back");
  });

  test("and EnableTenant are NOT_FOUND for a tenant that does not exist", async () => {
    const tenantId = "nobody";
    const calls = [access.disableTenant({ tenantId }), access.enableTenant({ tenantId })];
    for (const error of await Promise.all(calls.map(failure))) expect(error).toMatchObject({ code: Code.NotFound });
  });
});

describe("roles", () => {
  test.each(["", "editor", "viewer", "Admin"])("role %j may change neither tenants nor keys", async (role) => {
    const client = accessClient(gateway.grpcPort, role);
    const key = { tenantId: "acme", keyId: "x" };
    const calls = [
      client.createTenant({ tenantId: "never", name: "x" }),
      client.disableTenant({ tenantId: "acme" }),
      client.enableTenant({ tenantId: "acme" }),
      client.createApiKey({ tenantId: "acme", name: "x", scopes: [...scopes] }),
      client.updateApiKeyScopes({ ...key, scopes: [...scopes] }),
      client.rollApiKey(key),
      client.revokeApiKey(key),
    ];
    for (const call of calls) expect(await failure(call)).toMatchObject({ code: Code.PermissionDenied });
  });

  test("an owner may create a tenant", async () => {
    await accessClient(gateway.grpcPort, "owner").createTenant({ tenantId: "owned", name: "x" });
  });
});

describe("the audit", () => {
  test("says who did what to which key, in order", async () => {
    const client = accessClient(gateway.grpcPort, "owner", "grace");
    await client.createTenant({ tenantId: "audited", name: "x" });
    const { apiKey } = await client.createApiKey({ tenantId: "audited", name: "k", scopes: ["phrases:read"] });
    const key = { tenantId: "audited", keyId: apiKey!.keyId };
    await client.updateApiKeyScopes({ ...key, scopes: ["phrases:write"] });
    await client.rollApiKey(key);
    await client.disableTenant({ tenantId: "audited" });
    await client.enableTenant({ tenantId: "audited" });
    const { entries } = await client.listAuditEntries({ tenantId: "audited" });
    expect(entries.map(({ actor, role, action }) => `${actor} ${role} ${action}`).toReversed()).toEqual([
      "grace owner create_tenant",
      "grace owner create_key",
      "grace owner update_key_scopes",
      "grace owner create_key",
      "grace owner roll_key",
      "grace owner disable_tenant",
      "grace owner enable_tenant",
    ]);
    const [, , rolled, , scoped] = entries;
    expect(rolled).toMatchObject({ subject: apiKey!.keyId, keyPrefix: "", fromAddress: "127.0.0.1" });
    expect(scoped!.subject).toBe(apiKey!.keyId);
    const detail: unknown = JSON.parse(Buffer.from(scoped!.detailJson).toString());
    expect(detail).toEqual({ prefix: apiKey!.prefix, scopes: ["phrases:write"] });
  });

  test("is not listed for an editor", async () => {
    const listed = accessClient(gateway.grpcPort, "editor").listAuditEntries({ tenantId: "acme" });
    expect(await failure(listed)).toMatchObject({ code: Code.PermissionDenied });
  });
});

describe("last use", () => {
  test("of a key is stored, rounded down to the minute, when the gateway stops", async () => {
    const third = await openGateway({ ...gateway.config, grpcPort: 0, meshPort: 0, httpPort: 0, opsPort: 0 });
    const { apiKey, secret } = await access.createApiKey({ tenantId: "acme", name: "x", scopes: ["publisher:read"] });
    expect(apiKey!.lastUsedAt).toBeUndefined();
    const before = Date.now();
    await read(secret, third);
    await third[Symbol.asyncDispose]();
    const { apiKeys } = await access.listApiKeys({ tenantId: "acme" });
    const used = timestampDate(apiKeys.find(({ keyId }) => keyId === apiKey!.keyId)!.lastUsedAt!).getTime();
    expect(used % 60_000).toBe(0);
    expect(used).toBeGreaterThan(before - 60_000);
    expect(used).toBeLessThanOrEqual(Date.now());
  });
});
