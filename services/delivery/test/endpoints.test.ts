import { toJson } from "@bufbuild/protobuf";
import { durationFromMs, timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { EndpointSchema, EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openReceiver, type ReceivedWebhook } from "./support/receiver.ts";
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

const url = "http://127.0.0.1:9/hook";
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "answered",
    (error: unknown) => Code[ConnectError.from(error).code],
  );
const register = async (tenantId: string, settings: object = {}) => {
  const made = await delivery.endpoints.createEndpoint({ tenantId, url, ...settings }, asAdmin);
  return { ...made, name: { tenantId, endpointId: made.endpoint!.endpointId } };
};

test("an endpoint shows the settings it was registered with", async () => {
  const { name, endpoint } = await register("settings", {
    name: "Desk",
    description: "Who reads it",
    events: { names: ["snapshot.usable"] },
    documentTypes: { names: ["core/article"] },
    headers: { values: { Authorization: "Basic eA==" } },
    maxInFlight: 4,
    ratePerSecond: 2.5,
    disabled: true,
  });
  expect(endpoint).toMatchObject({
    url,
    name: "Desk",
    description: "Who reads it",
    events: ["snapshot.usable"],
    documentTypes: ["core/article"],
    headerNames: ["authorization"],
    maxInFlight: 4,
    ratePerSecond: 2.5,
    disablement: { reason: "operator", actor: "kari" },
  });
  const { endpoint: found } = await delivery.endpoints.getEndpoint(name);
  expect(found).toMatchObject(endpoint!);
  const { endpoints: listed } = await delivery.endpoints.listEndpoints(name);
  expect(listed).toMatchObject([endpoint!]);
});

test("an endpoint shows no header's value", async () => {
  const { name, endpoint } = await register("hiding", { headers: { values: { Authorization: "Basic eA==" } } });
  const { endpoint: found } = await delivery.endpoints.getEndpoint(name);
  const { endpoints: listed } = await delivery.endpoints.listEndpoints(name);
  const shown = [endpoint!, found!, ...listed].map((each) => JSON.stringify(toJson(EndpointSchema, each)));
  expect(shown).toHaveLength(3);
  for (const each of shown) expect(each).not.toContain("eA==");
});

test("an endpoint that nobody has named has its URL's host and port as name, also in a list of names", async () => {
  const { name, endpoint } = await register("unnamed");
  expect(endpoint?.name).toBe("127.0.0.1:9");
  const { endpoints: listed } = await delivery.endpoints.listEndpoints({ tenantId: name.tenantId, namesOnly: true });
  expect(listed).toMatchObject([{ endpointId: name.endpointId, name: "127.0.0.1:9" }]);
});

test("an update changes the settings that it names, and leaves the others", async () => {
  const kept = { name: "Desk", description: "Who reads it", maxInFlight: 4 };
  const given = { ...kept, events: { names: ["snapshot.usable"] }, documentTypes: { names: ["core/tag"] } };
  const { name, endpoint } = await register("updating", given);
  const others = { ...kept, events: ["snapshot.usable"] };
  const request = { ...name, documentTypes: { names: [] }, ratePerSecond: 3, url: "http://127.0.0.1:10/" };
  const { endpoint: changed } = await delivery.endpoints.updateEndpoint(request, asAdmin);
  expect(changed).toMatchObject({ ...others, url: request.url, documentTypes: [], ratePerSecond: 3 });
  expect(timestampDate(changed!.updatedAt!).getTime()).toBeGreaterThan(timestampDate(endpoint!.updatedAt!).getTime());
  const unlimited = await delivery.endpoints.updateEndpoint({ ...name, ratePerSecond: 0 }, asAdmin);
  expect(unlimited.endpoint).toMatchObject({ ...others, url: request.url, documentTypes: [], ratePerSecond: 0 });
});

test("a URL of another origin needs the headers given again, and another path does not", async () => {
  await using elsewhere = await openReceiver();
  await using receiver = await openReceiver();
  const { name } = await register("moving", {
    url: receiver.url,
    headers: { values: { Authorization: "Bearer t", "X-Team": "a" } },
  });
  const move = (change: object) => delivery.endpoints.updateEndpoint({ ...name, ...change }, asAdmin);
  const refused = await move({ url: elsewhere.url }).catch((error: unknown) => ConnectError.from(error));
  expect(refused).toMatchObject({
    code: Code.InvalidArgument,
    message: expect.stringContaining("authorization, x-team"),
  });
  expect(fromConnectError(refused)?.violations).toMatchObject([{ pointer: "/headers" }]);
  await delivery.endpoints.testEndpoint(name, asAdmin);
  expect((await receiver.arrivals(1))[0]!.headers).toMatchObject({ authorization: "Bearer t" });
  expect(elsewhere.received).toEqual([]);
  expect((await move({ url: `${receiver.url}/other` })).endpoint).toMatchObject({
    headerNames: ["authorization", "x-team"],
  });
  const moved = await move({ url: elsewhere.url, headers: { values: { "X-Team": "b" } } });
  expect(moved.endpoint).toMatchObject({ url: elsewhere.url, headerNames: ["x-team"] });
  expect((await move({ url: receiver.url, headers: { values: {} } })).endpoint).toMatchObject({ headerNames: [] });
  expect((await move({ url: elsewhere.url })).endpoint).toMatchObject({ url: elsewhere.url });
});

test("two updates and a disabling at the same time all take effect", async () => {
  const { name } = await register("busy");
  await Promise.all([
    delivery.endpoints.updateEndpoint({ ...name, maxInFlight: 7 }, asAdmin),
    delivery.endpoints.updateEndpoint({ ...name, ratePerSecond: 9 }, asAdmin),
    delivery.endpoints.disableEndpoint(name, asAdmin),
  ]);
  const { endpoint } = await delivery.endpoints.getEndpoint(name);
  expect(endpoint).toMatchObject({ maxInFlight: 7, ratePerSecond: 9, disablement: { reason: "operator" } });
});

test.each([
  ["/url", { url: "http://10.0.0.1/" }],
  ["/events", { events: { names: [] } }],
  ["/documentTypes/0", { documentTypes: { names: ["article"] } }],
  ["/headers/webhook-id", { headers: { values: { "webhook-id": "x" } } }],
  ["/maxInFlight", { maxInFlight: 129 }],
  ["/ratePerSecond", { ratePerSecond: -1 }],
])("a setting that breaks its rule (%s) is refused at registration and in an update", async (_, bad) => {
  expect(await codeOf(register("strict", bad))).toBe("InvalidArgument");
  const { name } = await register("strict");
  expect(await codeOf(delivery.endpoints.updateEndpoint({ ...name, ...bad }, asAdmin))).toBe("InvalidArgument");
});

test("a repeated disabling or enabling leaves the endpoint as it was", async () => {
  const { name } = await register("pausing");
  const { endpoint: first } = await delivery.endpoints.disableEndpoint(name, asAdmin);
  const { endpoint: again } = await delivery.endpoints.disableEndpoint(name, { headers: { "vidimus-role": "owner" } });
  expect(again).toEqual(first);
  const { endpoint: enabled } = await delivery.endpoints.enableEndpoint(name, asAdmin);
  expect(enabled?.disablement).toBeUndefined();
  expect((await delivery.endpoints.enableEndpoint(name, asAdmin)).endpoint).toEqual(enabled);
});

test("editors may only read endpoints", async () => {
  const { name } = await register("roles");
  const { endpoints } = delivery;
  const asEditor = { headers: { "vidimus-role": "editor" } };
  const codes = await Promise.all([
    codeOf(endpoints.createEndpoint({ tenantId: "roles", url }, asEditor)),
    codeOf(endpoints.updateEndpoint(name, asEditor)),
    codeOf(endpoints.enableEndpoint(name, asEditor)),
    codeOf(endpoints.disableEndpoint(name, asEditor)),
    codeOf(endpoints.rotateEndpointSecret(name, asEditor)),
    codeOf(endpoints.testEndpoint(name, asEditor)),
    codeOf(endpoints.deleteEndpoint(name, asEditor)),
  ]);
  expect(new Set(codes)).toEqual(new Set(["PermissionDenied"]));
  expect(await codeOf(endpoints.getEndpoint(name, asEditor))).toBe("answered");
  expect(await codeOf(endpoints.listEndpoints({ tenantId: name.tenantId }, asEditor))).toBe("answered");
});

test("integrators may change endpoints at the teams door and at the mesh door", async () => {
  const { name } = await register("integrated");
  const asIntegrator = { headers: { "vidimus-role": "integrator" } };
  expect(await codeOf(delivery.endpoints.updateEndpoint(name, asIntegrator))).toBe("answered");
  using mesh = openRpcClient(EndpointService, { target: `127.0.0.1:${delivery.service.meshPort}` });
  expect(await codeOf(mesh.disableEndpoint(name, asIntegrator))).toBe("answered");
});

test("getting, changing, testing or deleting another tenant's endpoint is answered NotFound", async () => {
  const { name } = await register("owner");
  const foreign = { ...name, tenantId: "stranger" };
  const { endpoints } = delivery;
  const codes = await Promise.all([
    codeOf(endpoints.getEndpoint(foreign)),
    codeOf(endpoints.updateEndpoint({ ...foreign, maxInFlight: 1 }, asAdmin)),
    codeOf(endpoints.enableEndpoint(foreign, asAdmin)),
    codeOf(endpoints.disableEndpoint(foreign, asAdmin)),
    codeOf(endpoints.rotateEndpointSecret(foreign, asAdmin)),
    codeOf(endpoints.testEndpoint(foreign, asAdmin)),
    codeOf(endpoints.deleteEndpoint(foreign, asAdmin)),
    codeOf(endpoints.getEndpoint({ ...name, endpointId: "nonsense" })),
  ]);
  expect(new Set(codes)).toEqual(new Set(["NotFound"]));
  expect((await endpoints.getEndpoint(name)).endpoint).toMatchObject({ maxInFlight: 32 });
});

/** Which headers of a webhook have a signature that was made with the secret. */
function signedBy({ headers, body }: ReceivedWebhook, secret: string) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body.toString()}`;
  const standard = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  const ofBody = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  return {
    standard: String(headers["webhook-signature"]).split(" ").includes(standard),
    newest: headers["x-vidimus-signature-256"] === ofBody,
    previous: headers["x-vidimus-signature-256-previous"] === ofBody,
  };
}

test("the old secret verifies webhooks after a rotation with an overlap, and not after one without", async () => {
  await using receiver = await openReceiver();
  const { name, secret: first } = await register("rotating", { url: receiver.url });
  const { endpoints } = delivery;
  const rotation = await endpoints.rotateEndpointSecret({ ...name, overlap: durationFromMs(60_000) }, asAdmin);
  await endpoints.testEndpoint(name, asAdmin);
  const [during] = await receiver.arrivals(1);
  expect(signedBy(during!, first)).toEqual({ standard: true, newest: false, previous: true });
  expect(signedBy(during!, rotation.secret)).toEqual({ standard: true, newest: true, previous: false });
  const last = await endpoints.rotateEndpointSecret({ ...name, overlap: durationFromMs(0) }, asAdmin);
  expect(last.endpoint?.previousSecretEndsAt).toBeUndefined();
  await endpoints.testEndpoint(name, asAdmin);
  const [, after] = await receiver.arrivals(2);
  expect(signedBy(after!, last.secret)).toEqual({ standard: true, newest: true, previous: false });
  for (const old of [first, rotation.secret]) expect(signedBy(after!, old).standard).toBe(false);
});

test("a rotation of a secret with an overlap is refused while an earlier overlap lasts", async () => {
  const { name } = await register("twice");
  await delivery.endpoints.rotateEndpointSecret({ ...name, overlap: durationFromMs(60_000) }, asAdmin);
  expect(await codeOf(delivery.endpoints.rotateEndpointSecret(name, asAdmin))).toBe("FailedPrecondition");
});

test("a registration reports the answer to its ping", async () => {
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end("asleep"));
  const { ping } = await register("asleep", { url: receiver.url, verify: true });
  expect(ping).toMatchObject({ accepted: false, status: 503, failure: "", answer: "asleep" });
});

test("an endpoint is registered although its ping is refused", async () => {
  await using receiver = await openReceiver((_webhook, response) => response.writeHead(503).end());
  const { name } = await register("refusing", { url: receiver.url, verify: true });
  expect((await delivery.endpoints.getEndpoint(name)).endpoint).toBeDefined();
});

test("a ping has its endpoint's HMACs and headers", async () => {
  await using receiver = await openReceiver();
  const headers = { values: { "x-team": "news", "x-desk": "north" } };
  const { name, secret } = await register("pinged", { url: receiver.url, headers, verify: true });
  const [webhook] = await receiver.arrivals(1);
  expect(webhook!.headers).toMatchObject({ "vidimus-event": "endpoint.ping", ...headers.values });
  expect(webhook!.headers).not.toHaveProperty("vidimus-key-id");
  expect(signedBy(webhook!, secret)).toMatchObject({ standard: true, newest: true });
  expect(JSON.parse(webhook!.body.toString())).toEqual({
    id: webhook!.headers["webhook-id"],
    type: "endpoint.ping",
    timestamp: expect.stringMatching(/Z$/),
    data: name,
  });
});

test("the result of a ping that gets no answer says why", async () => {
  const { name } = await register("unreachable");
  const { ping } = await delivery.endpoints.testEndpoint(name, asAdmin);
  expect(ping).toMatchObject({ accepted: false, status: 0, failure: "connection" });
  expect(ping?.detail).toContain("ECONNREFUSED");
});

test("a tenant has at most 100 endpoints", async () => {
  await Promise.all(Array.from({ length: 100 }, () => register("many")));
  expect(await codeOf(register("many"))).toBe("FailedPrecondition");
  expect(await codeOf(register("few"))).toBe("answered");
});
