import { once } from "node:events";
import { createServer } from "node:net";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { TenantService } from "@vidimus/contracts/vidimus/access/v1/tenant_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { portOf } from "@vidimus/kit/port";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { listStater } from "../../verify/test/support/list-stater.ts";
import { openTestPages, type TestPage } from "./support/pages.ts";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

/** No server listens on port 2. It is not port 1, which fetch refuses without connecting. */
const unreachable = "http://127.0.0.1:2";

interface Finding {
  check: string;
  status: string;
  finding: string;
  remedy?: string;
}

let stack: AsyncDisposableStack;
beforeEach(() => void (stack = new AsyncDisposableStack()));
afterEach(() => stack.disposeAsync());

const refusal = (code: string, message: string) => ({ ok: false, error: { code, message } });
const listed = listStater().state({ active: null, keys: [] });
const well: Record<string, TestPage> = {
  "GET /api/keys": { ...listed, headers: { ...listed.headers, "cache-control": "public, max-age=3600" } },
  "GET /v1/documents": { body: { ok: true } },
  "GET /v1/phrases": { body: { ok: true } },
  "POST /v1/documents": { status: 400, body: refusal("INVALID_PAYLOAD", "id is missing") },
};

async function openGateway(pages: Record<string, TestPage> = {}) {
  return stack.use(await openTestPages({ ...well, ...pages }));
}

async function doctor(argv: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(["doctor", ...argv, "--json"], { env });
  const { findings, ...sums } = JSON.parse(stdout) as { findings: Finding[] };
  const of = (check: string) => findings.find((finding) => finding.check === check);
  return { code, stderr, sums, findings, of };
}

describe("doctor", () => {
  test("without the gateway's address doctor fails, and says that no dev stack was found", async () => {
    expect(await run(["doctor"])).toMatchObject({ code: 1, stderr: expect.stringContaining("no dev stack found") });
  });

  test("warnings and unknown addresses leave exit code 0", async () => {
    const gateway = await openGateway();
    const { code, sums, stderr } = await doctor(["--gateway", gateway.url]);
    expect([code, stderr, sums]).toEqual([0, "", { broken: 0, warnings: 1, unchecked: 18 }]);
  });

  test("a gateway that cannot be reached is reported as broken only once", async () => {
    const { code, stderr, findings } = await doctor(["--gateway", unreachable, "--key", "vk_x"]);
    expect(findings.filter(({ status }) => status === "broken")).toMatchObject([
      {
        check: "gateway",
        finding: expect.stringContaining("ECONNREFUSED"),
        remedy: expect.stringContaining("HTTP_PORT"),
      },
    ]);
    expect([code, stderr]).toEqual([1, `error: 1 of ${findings.length} checks found something broken\n`]);
  });

  test("without --json findings are a table, with the remedies below", async () => {
    const { stdout, code } = await run(["doctor", "--gateway", unreachable]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^STATUS +CHECK +FINDING\nbroken +gateway +http:\/\/127\.0\.0\.1:2 cannot be reached/);
    expect(stdout).toMatch(
      /\nunchecked +mongodb +address unknown\n[^]*\n\nWhat to do:\nbroken: gateway: Is the gateway running/,
    );
    expect(stdout).toMatch(/What to do:\n[^]*\nunchecked: mongodb: Pass VIDIMUS_MONGODB/);
  });
});

test("where only the gateway's address is known, each finding that is not ok has a remedy", async () => {
  const gateway = await openGateway();
  const { findings } = await doctor(["--gateway", gateway.url]);
  const faults = findings.filter(({ status }) => status !== "ok");
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.filter(({ remedy }) => !remedy)).toEqual([]);
});

describe("through the gateway", () => {
  test("a gateway clock ten minutes ahead is broken, and one ten seconds behind is a warning", async () => {
    for (const [offMs, status] of [
      [600_000, "broken"],
      [-10_000, "warning"],
    ] as const) {
      const date = new Date(Date.now() + offMs).toUTCString();
      const gateway = await openGateway({ "GET /api/keys": { ...well["GET /api/keys"], headers: { date } } });
      const { of } = await doctor(["--gateway", gateway.url]);
      expect(of("clock of the gateway")).toMatchObject({ status, remedy: expect.stringContaining("NTP") });
    }
  });

  test("a trust list that the gateway cannot read is broken", async () => {
    const gateway = await openGateway({ "GET /api/keys": { status: 503, body: refusal("UNAVAILABLE", "no list") } });
    const { of } = await doctor(["--gateway", gateway.url]);
    expect(of("trust list")).toMatchObject({ status: "broken", remedy: expect.stringContaining("SIGNING_TARGET") });
  });

  test("the API key is used for two reads and one write, and not to read the trust list", async () => {
    const gateway = await openGateway();
    const { of, sums } = await doctor(["--gateway", gateway.url, "--key", "vk_x"]);
    expect(sums).toMatchObject({ broken: 0, warnings: 1 });
    expect(of("write budget")).toMatchObject({ status: "ok", finding: "none is set" });
    expect(gateway.asked.toSorted()).toEqual([
      "GET /api/keys -",
      "GET /v1/documents?type=core/article&limit=1 Bearer vk_x",
      "GET /v1/phrases?language=zxx Bearer vk_x",
      "POST /v1/documents Bearer vk_x",
    ]);
  });

  test("a service that the gateway does not reach is broken, and named", async () => {
    const gateway = await openGateway({
      "GET /v1/phrases": { status: 503, body: refusal("UNAVAILABLE", "phrases does not answer") },
    });
    const { of } = await doctor(["--gateway", gateway.url, "--key", "vk_x"]);
    expect(of("phrases by HTTP")).toEqual({
      check: "phrases by HTTP",
      status: "broken",
      finding: "503 UNAVAILABLE: phrases does not answer",
      remedy: expect.stringContaining("PHRASES_TARGET"),
    });
    expect(of("documents by HTTP")?.status).toBe("ok");
  });

  test("the write budget is broken when the test write fails, although the answer shows budget left", async () => {
    const headers = { ratelimit: '"writes";r=9;t=1', "ratelimit-policy": '"writes";q=10;w=60' };
    const body = refusal("INTERNAL", "internal error");
    const gateway = await openGateway({ "POST /v1/documents": { status: 500, body, headers } });
    const { of } = await doctor(["--gateway", gateway.url, "--key", "vk_x"]);
    expect(of("write budget")).toMatchObject({ status: "broken", finding: "500 INTERNAL: internal error" });
  });

  test("a spent write budget is a warning that says in how many seconds all of it is back", async () => {
    const headers = { "retry-after": "41", ratelimit: '"writes";r=0;t=41', "ratelimit-policy": '"writes";q=10;w=60' };
    const body = refusal("RATE_LIMITED", "Write budget of the tenant");
    const gateway = await openGateway({ "POST /v1/documents": { status: 429, body, headers } });
    const { code, of } = await doctor(["--gateway", gateway.url, "--key", "vk_x"]);
    expect([code, of("write budget")]).toEqual([
      0,
      expect.objectContaining({ status: "warning", remedy: expect.stringMatching(/in 41 s.*WRITE_BUDGET/) }),
    ]);
  });

  test("what the key's scopes do not allow is unchecked, and the remedy names the missing scope", async () => {
    const gateway = await openGateway({ "GET /v1/phrases": { status: 403, body: refusal("FORBIDDEN", "no") } });
    const { code, of } = await doctor(["--gateway", gateway.url, "--key", "vk_x"]);
    expect([code, of("phrases by HTTP")]).toEqual([
      0,
      expect.objectContaining({ status: "unchecked", remedy: expect.stringContaining("phrases:read") }),
    ]);
  });

  test("a key that the gateway refuses is not printed", async () => {
    const body = refusal("UNAUTHORIZED", "no");
    const gateway = await openGateway({ "GET /v1/phrases": { status: 401, body } });
    const { code, stdout, stderr } = await run(["doctor", "--gateway", gateway.url, "--key", "vk_secret"]);
    expect([code, `${stdout}${stderr}`]).toEqual([1, expect.not.stringContaining("vk_secret")]);
  });
});

describe("receivers of webhooks", () => {
  const ago = (ms: number) => timestampFromDate(new Date(Date.now() - ms));
  const day = 24 * 60 * 60_000;
  const failed = { at: ago(1_000), status: 500, answer: "no space" };
  const endpoint = (endpointId: string, settings: object) => {
    return { endpointId, url: `https://${endpointId}.example/hook/secret`, ...settings };
  };
  const endpoints = [
    endpoint("well", { health: { gate: "closed", oldestPendingAt: ago(60_000), pendingDocuments: 1n } }),
    endpoint("paused", { disablement: { at: ago(day), reason: "operator", actor: "kari" } }),
    endpoint("failing", {
      health: {
        gate: "open",
        openSince: ago(60_000),
        oldestPendingAt: ago(60_000),
        pendingDocuments: 7n,
        lastFailure: failed,
      },
    }),
    endpoint("slow", { health: { gate: "closed", oldestPendingAt: ago(10 * 60_000), pendingDocuments: 2n } }),
    endpoint("gone", { disablement: { at: ago(day), reason: "gone" } }),
    endpoint("forgotten", { disablement: { at: ago(8 * day), reason: "operator", actor: "kari" } }),
    endpoint("unknown", {}),
  ];

  async function checkReceivers() {
    const gateway = await openGateway();
    const served = route(EndpointService, { listEndpoints: () => ({ endpoints }) });
    const { target } = stack.use(await openTestServices(served));
    const { code, findings } = await doctor(["--gateway", gateway.url, "--delivery", target, "--tenant", "demo"]);
    return { code, stuck: findings.filter(({ check }) => check === "webhooks") };
  }

  test("that need attention are warnings with a remedy", async () => {
    const { code, stuck } = await checkReceivers();
    expect([code, stuck.map(({ finding }) => finding)]).toEqual([
      0,
      [
        expect.stringMatching(
          /^endpoint failing \(failing\.example\) fails since .*Z, 7 documents wait since .*Z; last error: 500 no space$/,
        ),
        expect.stringMatching(/^endpoint slow \(slow\.example\) is behind, 2 documents wait since .*Z$/),
        expect.stringMatching(/^endpoint gone .* is disabled since .*Z: it answered 410 twice$/),
        expect.stringMatching(/^endpoint forgotten .* is disabled since .*Z by kari$/),
        expect.stringContaining("endpoint unknown (unknown.example): health unknown"),
      ],
    ]);
    expect(stuck.every(({ status, remedy }) => status === "warning" && remedy)).toBe(true);
  });

  test("are named without the path of their URL", async () => {
    const { stuck } = await checkReceivers();
    expect(stuck).not.toEqual([]);
    expect(JSON.stringify(stuck)).not.toContain("secret");
  });

  test("are not checked without a tenant", async () => {
    const gateway = await openGateway();
    const { target } = stack.use(await openTestServices(route(EndpointService, {})));
    const { of } = await doctor(["--gateway", gateway.url, "--delivery", target]);
    expect(of("webhooks")).toMatchObject({ status: "unchecked", remedy: expect.stringContaining("--tenant") });
  });

  test("are broken when they cannot be read", async () => {
    const gateway = await openGateway();
    const { target } = stack.use(await openTestServices(route(EndpointService, {})));
    const { of } = await doctor(["--gateway", gateway.url, "--delivery", target, "--tenant", "demo"]);
    expect(of("webhooks")).toMatchObject({ status: "broken" });
  });
});

describe("internal ports", () => {
  test("a port where another service listens is broken, and the remedy names the settings to compare", async () => {
    const gateway = await openGateway();
    const { target } = stack.use(await openTestServices(route(AccessService, {}), route(TenantService, {})));
    const mesh = `access=${target},signing=${target}`;
    const env = { VIDIMUS_ACCESS: target, VIDIMUS_DOCUMENTS: target, VIDIMUS_MESH: mesh };
    const { code, of } = await doctor(["--gateway", gateway.url], env);
    expect(code).toBe(1);
    expect(of("access rpc")).toMatchObject({ status: "ok" });
    expect(of("documents rpc")).toMatchObject({
      status: "broken",
      finding: `${target} does not know vidimus.documents.v1.DocumentService`,
      remedy: expect.stringMatching(/VIDIMUS_DOCUMENTS.*GRPC_PORT/),
    });
    expect(of("access mesh")).toMatchObject({ status: "ok" });
    expect(of("signing mesh")).toMatchObject({
      status: "broken",
      finding: `${target} does not know vidimus.signing.v1.TrustListService`,
      remedy: expect.stringMatching(/VIDIMUS_MESH.*MESH_PORT/),
    });
    expect(of("phrases mesh")).toMatchObject({
      status: "unchecked",
      remedy: expect.stringContaining("--mesh phrases="),
    });
  });

  test("a malformed list of mesh doors is an error before the gateway is asked", async () => {
    const gateway = await openGateway();
    expect(await run(["doctor", "--gateway", gateway.url, "--mesh", "127.0.0.1:7151"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--mesh (VIDIMUS_MESH) must be a list like documents=host:7151"),
    });
    expect(gateway.asked).toEqual([]);
  });

  test("an RPC port where no server listens is broken", async () => {
    const gateway = await openGateway();
    const { of } = await doctor(["--gateway", gateway.url, "--documents", "127.0.0.1:1"]);
    expect(of("documents rpc")).toMatchObject({
      status: "broken",
      finding: expect.stringContaining("cannot be reached"),
    });
  });

  async function checkOpsPorts() {
    const gateway = await openGateway();
    const metrics = (version: string) => ({ body: `x 1\nnodejs_version_info{version="v${version}",major="1"} 1\n` });
    const healthy = stack.use(
      await openTestPages({
        "GET /readyz": { body: { ok: true } },
        "GET /metrics": metrics("26.10.0"),
        "GET /openapi.json": { body: { info: { version: "0.1.0" } } },
      }),
    );
    const ill = stack.use(
      await openTestPages({
        "GET /readyz": { status: 503, body: { ok: false, reason: "no primary" } },
        "GET /metrics": metrics("24.1.0"),
      }),
    );
    const ops = `gateway=${healthy.url},documents=${ill.url},phrases=${unreachable}`;
    return doctor(["--gateway", gateway.url, "--ops", ops]);
  }

  test("the gateway's ops port tells the revision of the public API", async () => {
    const { of } = await checkOpsPorts();
    expect(of("contract")).toMatchObject({ status: "ok", finding: "revision 0.1.0 of the public API" });
  });

  test("Node 26.10 of a service is ok, and Node 24.1 is a warning", async () => {
    const { of } = await checkOpsPorts();
    expect(of("gateway node")).toMatchObject({ status: "ok", finding: "26.10.0" });
    expect(of("documents node")).toMatchObject({ status: "warning" });
  });

  test("the ops port of a service tells whether the service is ready, and why it is not", async () => {
    const { code, of } = await checkOpsPorts();
    expect(code).toBe(1);
    expect(of("gateway ops")).toMatchObject({ status: "ok", finding: "ready" });
    expect(of("documents ops")).toMatchObject({ status: "broken", finding: "not ready: no primary" });
    expect(of("phrases ops")).toMatchObject({ status: "broken", finding: expect.stringContaining("ECONNREFUSED") });
    expect(of("signing ops")).toMatchObject({ status: "unchecked" });
  });

  test.each([
    ["starting", "its log says what is missing"],
    ["shutting down", "It is being stopped"],
    ["the key ring cannot be read: keys.0.publicKey", "restore the newest"],
    ["connection refused", "MONGODB_URL"],
    ["constructor", "MONGODB_URL"],
  ])('the remedy of "not ready: %s" says "%s"', async (reason, words) => {
    const page = { status: 503, body: { ok: false, reason } };
    const [gateway, ops] = [await openGateway(), stack.use(await openTestPages({ "GET /readyz": page }))];
    const { of } = await doctor(["--gateway", gateway.url, "--ops", `delivery=${ops.url}`]);
    expect(of("delivery ops")).toEqual({
      check: "delivery ops",
      status: "broken",
      finding: `not ready: ${reason}`,
      remedy: expect.stringContaining(words),
    });
  });

  test("a malformed list of ops ports is an error before the gateway is asked", async () => {
    const gateway = await openGateway();
    expect(await run(["doctor", "--gateway", gateway.url, "--ops", "http://a:1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("must be a list like gateway=http://host:9090"),
    });
    expect(gateway.asked).toEqual([]);
  });
});

describe("MongoDB and NATS", () => {
  test("a MongoDB replica set is shown with MongoDB's version and the set's name", async () => {
    const gateway = await openGateway();
    const { of } = await doctor(["--gateway", gateway.url], { VIDIMUS_MONGODB: inject("mongoUrl") });
    expect(of("mongodb")!.finding).toMatch(/^\d+\.\d+\.\d+, replica set \w+$/);
  });

  test("the clock of a MongoDB on the same machine is ok", async () => {
    const gateway = await openGateway();
    const { of } = await doctor(["--gateway", gateway.url], { VIDIMUS_MONGODB: inject("mongoUrl") });
    expect(of("clock of mongodb")).toMatchObject({ status: "ok" });
  });

  test("a NATS server with JetStream is ok", async () => {
    const gateway = await openGateway();
    const { findings } = await doctor(["--gateway", gateway.url], { VIDIMUS_NATS: inject("natsUrl") });
    expect(findings.filter(({ check }) => check.startsWith("nats "))).toMatchObject([
      { status: "ok", finding: expect.stringMatching(/^2\.\d+\.\d+ with JetStream$/) },
    ]);
  });

  test.each([
    ['INFO {"version":"2.9.25","jetstream":true}\r\n', "2.9.25 is older than 2.10.0"],
    ['INFO {"version":"2.11.0"}\r\n', "2.11.0 without JetStream"],
    ["SSH-2.0-OpenSSH_9.2\r\n", "what answers there is no nats-server"],
    ["", "what answers there is no nats-server"],
  ])("a NATS address that greets with %j is broken", async (greeting, finding) => {
    const gateway = await openGateway();
    const server = createServer((socket) => void socket.on("error", () => undefined).end(greeting));
    stack.defer(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `127.0.0.1:${portOf(server.address())}`;
    const { code, of } = await doctor(["--gateway", gateway.url, "--nats", `nats://${address}`]);
    expect([code, of(`nats ${address}`)]).toEqual([1, expect.objectContaining({ status: "broken", finding })]);
  });

  async function checkTwoNatsServers() {
    const gateway = await openGateway();
    const nats = `${inject("natsUrl")},nats://me:hunter2@127.0.0.1:1`;
    return run(["doctor", "--gateway", gateway.url, "--nats", nats]);
  }

  test("each of two NATS servers has a finding", async () => {
    const { stdout } = await checkTwoNatsServers();
    expect(stdout).toMatch(/^ok +nats 127\.0\.0\.1:\d+ +2\./m);
    expect(stdout).toMatch(/^broken +nats 127\.0\.0\.1:1 +.*ECONNREFUSED/m);
  });

  test("the password of a NATS server is not printed", async () => {
    const { stdout, stderr } = await checkTwoNatsServers();
    expect(stdout).toContain("127.0.0.1:1");
    expect(`${stdout}${stderr}`).not.toContain("hunter2");
  });

  test.each(["mongodb://me:hunter2@127.0.0.1:1/", "mongodb://me:hunter2@[bad/"])(
    "an unusable MongoDB URL is reported as broken, without its password: %s",
    async (url) => {
      const gateway = await openGateway();
      const { stdout, stderr } = await run(["doctor", "--gateway", gateway.url, "--mongodb", url]);
      expect(stdout).toMatch(/^broken +mongodb /m);
      expect(`${stdout}${stderr}`).not.toContain("hunter2");
    },
  );

  test("a MongoDB URL of another scheme is an error that does not show its password", async () => {
    const argv = ["doctor", "--gateway", unreachable, "--mongodb", "postgres://me:hunter2@h/"];
    const { code, stderr } = await run(argv);
    expect([code, stderr]).toEqual([1, expect.stringContaining("--mongodb (VIDIMUS_MONGODB) must be a URL like")]);
    expect(stderr).not.toContain("hunter2");
  });
});
