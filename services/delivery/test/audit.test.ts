import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { type AuditEntry } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asAdmin, openDelivery, openWorld, type World } from "./support/world.ts";

let world: World;
let delivery: Awaited<ReturnType<typeof openDelivery>>;

beforeAll(async () => {
  world = await openWorld();
  delivery = await openDelivery(world);
});
afterAll(async () => {
  await delivery[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const url = "http://127.0.0.1:9/hook/token-in-the-path";
const list = async (tenantId: string, query: object = {}) =>
  delivery.endpoints.listAuditEntries({ tenantId, ...query }, asAdmin);
const detailOf = ({ detailJson }: AuditEntry) => JSON.parse(Buffer.from(detailJson).toString()) as object;
const register = async (tenantId: string, settings: object = {}) => {
  const { endpoint } = await delivery.endpoints.createEndpoint({ tenantId, url, ...settings }, asAdmin);
  return { tenantId, endpointId: endpoint!.endpointId };
};

test("every change of an endpoint at the teams door leaves an entry with who, from where and what", async () => {
  const { endpoints } = delivery;
  const name = await register("told", { headers: { values: { Authorization: "Bearer s3cret" } }, maxInFlight: 4 });
  await endpoints.updateEndpoint({ ...name, maxInFlight: 5, url: `${url}2` }, asAdmin);
  await endpoints.disableEndpoint(name, asAdmin);
  await endpoints.disableEndpoint(name, asAdmin);
  await endpoints.enableEndpoint(name, asAdmin);
  const overlap = durationFromMs(60_000);
  await endpoints.rotateEndpointSecret({ ...name, overlap }, asAdmin);
  await endpoints.testEndpoint(name, asAdmin);
  await endpoints.getEndpoint(name, asAdmin);
  await endpoints.deleteEndpoint(name, asAdmin);
  const { entries, nextPageToken } = await list("told");
  expect(nextPageToken).toBe("");
  const origin = "http://127.0.0.1:9";
  expect(entries.map((entry) => [entry.action, detailOf(entry)])).toEqual([
    ["delete_endpoint", { origin: { from: origin } }],
    ["rotate_endpoint_secret", { previousSecretEndsAt: { to: expect.any(String) }, secret: "changed" }],
    ["enable_endpoint", { enabled: { from: false, to: true } }],
    ["disable_endpoint", { enabled: { from: true, to: false } }],
    ["update_endpoint", { maxInFlight: { from: 4, to: 5 }, url: "changed" }],
    ["create_endpoint", expect.objectContaining({ origin: { to: origin }, headerNames: { to: ["authorization"] } })],
  ]);
  const by = { actor: "kari", role: "admin", identity: "", keyPrefix: "", fromAddress: "127.0.0.1" };
  for (const entry of entries) expect(entry).toMatchObject({ ...by, tenantId: "told", subject: name.endpointId });
});

test("the details of entries show no header value, no path of a URL and no secret", async () => {
  const { endpoints } = delivery;
  const name = await register("hiding", { headers: { values: { Authorization: "Bearer s3cret" } } });
  await endpoints.updateEndpoint({ ...name, url: `${url}2` }, asAdmin);
  const { secret } = await endpoints.rotateEndpointSecret({ ...name, overlap: durationFromMs(60_000) }, asAdmin);
  await endpoints.deleteEndpoint(name, asAdmin);
  const { entries } = await list("hiding");
  expect(entries).toHaveLength(4);
  const rows = JSON.stringify(entries.map(detailOf));
  for (const hidden of ["s3cret", "token-in-the-path", secret]) expect(rows).not.toContain(hidden);
});

test("the entry of an API key's call has prefix and stated address at the mesh door, not the teams door", async () => {
  using mesh = openRpcClient(EndpointService, { target: `127.0.0.1:${delivery.service.meshPort}` });
  const stated = { "vidimus-actor": "key:abcdefghijkl", "vidimus-role": "integrator", "vidimus-from": "192.0.2.7" };
  const name = await register("keyed");
  await mesh.disableEndpoint(name, { headers: stated });
  await delivery.endpoints.enableEndpoint(name, { headers: { ...stated, "vidimus-role": "owner" } });
  expect((await list("keyed", { limit: 2 })).entries).toMatchObject([
    { action: "enable_endpoint", actor: "key:abcdefghijkl", role: "owner", keyPrefix: "", fromAddress: "127.0.0.1" },
    { action: "disable_endpoint", role: "integrator", keyPrefix: "abcdefghijkl", fromAddress: "192.0.2.7" },
  ]);
});

test("an entry of a person's change at the teams door has the stated address, if that is an IP address", async () => {
  const asPerson = { "vidimus-actor": `person:${"0".repeat(32)}`, "vidimus-role": "owner" };
  const name = await register("people");
  for (const from of ["2001:db8::7", "no address"]) {
    await delivery.endpoints.disableEndpoint(name, { headers: { ...asPerson, "vidimus-from": from } });
    await delivery.endpoints.enableEndpoint(name, asAdmin);
  }
  const { entries } = await list("people");
  const addresses = entries.filter(({ action }) => action === "disable_endpoint").map((each) => each.fromAddress);
  expect(addresses).toEqual(["127.0.0.1", "2001:db8::7"]);
});

/** Makes seven entries: one by `ida` for each of three disablings, the others by the admin. */
async function registerAndDisable(tenantId: string): Promise<void> {
  const name = await register(tenantId);
  const asIda = { headers: { ...asAdmin.headers, "vidimus-actor": "ida" } };
  for (let turn = 0; turn < 3; turn += 1) {
    await delivery.endpoints.disableEndpoint(name, asIda);
    await delivery.endpoints.enableEndpoint(name, asAdmin);
  }
}

test("read in pages, a tenant's entries are the same and in the same order as in one list", async () => {
  await registerAndDisable("paged");
  await register("paged_too");
  const all = (await list("paged")).entries.map(({ entryId }) => entryId);
  expect(all).toHaveLength(7);
  const walked: string[] = [];
  for (let pageToken: string | undefined; pageToken !== "";) {
    const page = await list("paged", { limit: 3, ...(pageToken === undefined ? {} : { pageToken }) });
    walked.push(...page.entries.map(({ entryId }) => entryId));
    pageToken = page.nextPageToken;
  }
  expect(walked).toEqual(all);
});

const actionsOf = async (tenantId: string, query: object) =>
  (await list(tenantId, query)).entries.map(({ action }) => action);

test("a tenant's entries can be filtered by actor", async () => {
  await registerAndDisable("by_actor");
  const disabled = Array.from({ length: 3 }, () => "disable_endpoint");
  expect(await actionsOf("by_actor", { actor: "ida" })).toEqual(disabled);
});

test("a tenant's entries can be filtered by action", async () => {
  await registerAndDisable("by_action");
  const query = { actions: ["create_endpoint", "delete_endpoint"] };
  expect(await actionsOf("by_action", query)).toEqual(["create_endpoint"]);
});

test("a tenant's entries can be filtered by time", async () => {
  await registerAndDisable("by_time");
  const { at } = (await list("by_time", { actions: ["create_endpoint"] })).entries[0]!;
  expect(await actionsOf("by_time", { since: at })).toHaveLength(7);
  expect(await actionsOf("by_time", { until: at })).toEqual([]);
  expect(await actionsOf("by_time", { since: timestampFromMs(Date.now() + 60_000) })).toEqual([]);
});

test.each<[string, object]>([
  ["a limit of 201", { limit: 201 }],
  ["a malformed page token", { pageToken: "x" }],
  ["an empty tenant id", { tenantId: "" }],
])("entries are not listed with %s", async (_, bad) => {
  await expect(list("closed", bad)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test("entries are not listed for an editor", async () => {
  const asEditor = { headers: { "vidimus-role": "editor" } };
  const refused = delivery.endpoints.listAuditEntries({ tenantId: "closed" }, asEditor);
  await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test("simultaneous changes leave one entry each, which starts from the value of the entry before", async () => {
  const name = await register("crowded");
  const changes = [2, 3, 4].map((maxInFlight) => delivery.endpoints.updateEndpoint({ ...name, maxInFlight }, asAdmin));
  await Promise.all(changes);
  const told = (await list("crowded")).entries.map(detailOf) as { maxInFlight: { from: number; to: number } }[];
  expect(told).toHaveLength(4);
  for (const [index, later] of told.slice(0, 3).entries())
    expect(later.maxInFlight.from).toBe(told[index + 1]!.maxInFlight.to);
});

test("a refused change leaves no entry", async () => {
  const name = await register("strict");
  const refused = delivery.endpoints.updateEndpoint({ ...name, maxInFlight: 129 }, asAdmin);
  await expect(refused).rejects.toThrow("maxInFlight");
  expect((await list("strict")).entries).toMatchObject([{ action: "create_endpoint" }]);
});
