import { type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccessService, type ApiKeySchema } from "@vidimus/contracts/vidimus/access/v1/access_service";
import {
  CreateEndpointRequestSchema,
  EndpointService,
  RotateEndpointSecretRequestSchema,
  UpdateEndpointRequestSchema,
} from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DomainError } from "@vidimus/kit/errors";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const createdAt = timestampFromDate(new Date("2026-01-05T10:00:00.5Z"));
const keyRow = {
  keyId: "k1",
  prefix: "abcdefghijkl",
  name: "Feed",
  scopes: ["documents:create"],
  createdBy: "kari",
  createdAt,
};
let shownKey: MessageInitShape<typeof ApiKeySchema> = keyRow;
const endpointRow = {
  endpointId: "e1",
  tenantId: "demo",
  url: "https://r.example/",
  name: "Desk",
  createdAt,
  updatedAt: createdAt,
  events: ["snapshot.usable"],
  maxInFlight: 32,
};
let services: Awaited<ReturnType<typeof openTestServices>>;
/**
 * The requests to create, update or rotate that the services received; those of `createTenant` with
 * actor and role.
 */
const calls: unknown[] = [];

beforeAll(async () => {
  services = await openTestServices(
    route(AccessService, {
      createTenant({ tenantId, name }, context) {
        const { actor, role } = callContext(context);
        calls.push({ tenantId, name, actor, role });
        if (tenantId === "taken") throw new DomainError("already_exists", "tenant taken exists");
        return { tenant: { tenantId, name, createdAt } };
      },
      listTenants: () => ({ tenants: [{ tenantId: "demo", name: "Demo", createdAt }] }),
      createApiKey({ tenantId, name, scopes }) {
        calls.push({ tenantId, name, scopes });
        return { apiKey: { ...keyRow, scopes }, secret: "vk_whole" };
      },
      listApiKeys: () => ({ apiKeys: [shownKey] }),
    }),
    route(EndpointService, {
      createEndpoint(request) {
        calls.push(toJson(CreateEndpointRequestSchema, request));
        const ping = request.verify ? { ping: { accepted: false, status: 500, took: durationFromMs(12) } } : {};
        return { endpoint: { ...endpointRow, url: request.url }, secret: "whsec_x", ...ping };
      },
      listEndpoints: () => ({ endpoints: [endpointRow] }),
      getEndpoint: () => ({ endpoint: endpointRow }),
      updateEndpoint(request) {
        calls.push(toJson(UpdateEndpointRequestSchema, request));
        return { endpoint: endpointRow };
      },
      enableEndpoint: () => ({ endpoint: endpointRow }),
      disableEndpoint: () => ({
        endpoint: { ...endpointRow, disablement: { at: createdAt, reason: "operator", actor: "cli:kari" } },
      }),
      rotateEndpointSecret(request) {
        calls.push(toJson(RotateEndpointSecretRequestSchema, request));
        return { endpoint: { ...endpointRow, previousSecretEndsAt: createdAt }, secret: "whsec_y" };
      },
      testEndpoint: ({ endpointId }) => ({
        ping:
          endpointId === "e1"
            ? { accepted: true, status: 204, took: durationFromMs(5) }
            : { failure: "dns", detail: "r.example cannot be resolved", took: durationFromMs(7) },
      }),
      deleteEndpoint({ endpointId }) {
        if (endpointId !== "e1") throw new DomainError("not_found", `there is no endpoint ${endpointId}`);
        return {};
      },
    }),
  );
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(() => void calls.splice(0));

function cli(...argv: string[]) {
  return run([...argv, "--access", services.target, "--delivery", services.target]);
}

test("tenants create makes a tenant, in the role admin and the name of the user", async () => {
  const { code, stdout } = await cli("tenants", "create", "--id", "nord", "--name", "Nordlys", "--json");
  expect([code, JSON.parse(stdout)]).toEqual([0, { id: "nord", name: "Nordlys" }]);
  expect(calls).toEqual([{ tenantId: "nord", name: "Nordlys", actor: "cli:kari", role: "admin" }]);
});

test("--role is passed on to the service", async () => {
  await cli("tenants", "create", "--id", "nord", "--name", "Nordlys", "--role", "owner");
  expect(calls).toMatchObject([{ role: "owner" }]);
});

test("a service's refusal is printed with its own message", async () => {
  const { code, stdout, stderr } = await cli("tenants", "create", "--id", "taken", "--name", "T", "--json");
  expect([code, stdout, stderr]).toEqual([1, "", "error: tenant taken exists\n"]);
});

test("tenants list prints a table of id, name, creation and disabling", async () => {
  expect((await cli("tenants", "list")).stdout).toBe(
    "ID    NAME  CREATED                   DISABLED\ndemo  Demo  2026-01-05T10:00:00.500Z  -\n",
  );
});

test("tenants list --json prints an array of tenants", async () => {
  const { stdout } = await cli("tenants", "list", "--json");
  expect(JSON.parse(stdout)).toEqual([
    { id: "demo", name: "Demo", createdAt: "2026-01-05T10:00:00.500Z", disabledAt: null },
  ]);
});

test("keys create --json prints {id, key, scopes}", async () => {
  const { stdout } = await cli(
    "keys",
    "create",
    "--tenant",
    "demo",
    "--name",
    "Feed",
    "--scopes",
    "documents:create, publisher:read",
    "--json",
  );
  const scopes = ["documents:create", "publisher:read"];
  expect(JSON.parse(stdout)).toEqual({ id: "k1", key: "vk_whole", scopes });
  expect(calls).toEqual([{ tenantId: "demo", name: "Feed", scopes }]);
});

test("keys list --json prints a key's prefix, name, scopes, author and times", async () => {
  const day = (n: number) => timestampFromDate(new Date(Date.UTC(2026, 1, n)));
  shownKey = { ...keyRow, expiresAt: day(1), revokedAt: day(2), lastUsedAt: day(3) };
  onTestFinished(() => void (shownKey = keyRow));
  const { stdout } = await cli("keys", "list", "--tenant", "demo", "--json");
  expect(JSON.parse(stdout)).toEqual([
    {
      id: "k1",
      prefix: "abcdefghijkl",
      name: "Feed",
      scopes: ["documents:create"],
      createdAt: "2026-01-05T10:00:00.500Z",
      createdBy: "kari",
      expiresAt: "2026-02-01T00:00:00.000Z",
      revokedAt: "2026-02-02T00:00:00.000Z",
      replacedBy: null,
      lastUsedAt: "2026-02-03T00:00:00.000Z",
    },
  ]);
});

test("endpoints create --json prints {id, secret}", async () => {
  const { stdout } = await cli("endpoints", "create", "--tenant", "demo", "--url", "https://r.example/", "--json");
  expect(JSON.parse(stdout)).toEqual({ id: "e1", secret: "whsec_x" });
  expect(calls).toEqual([{ tenantId: "demo", url: "https://r.example/" }]);
});

const ofEndpoints = (...argv: string[]) => cli("endpoints", ...argv, "--tenant", "demo");

test("endpoints create says which file with a secret cannot be read", async () => {
  const created = await ofEndpoints("create", "--url", "https://r.example/", "--secret-file", "gone.txt");
  expect(created).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: gone\.txt cannot be read: /) });
});

test("endpoints create sends the settings that its options give", async () => {
  const filters = ["--events", "snapshot.usable,endpoint.disabled", "--types", "core/article, core/tag"];
  const headers = ["--header", "X-Team: news desk", "--header", "authorization:Basic eA=="];
  const limits = ["--max-in-flight", "4", "--rate", "2.5", "--disabled", "--verify"];
  const texts = ["--name", "Desk", "--description", "of the desk", "--secret-file", "-"];
  const create = ["create", "--url", "https://r.example/", ...texts, ...filters, ...headers, ...limits];
  const where = ["--tenant", "demo", "--delivery", services.target];
  expect(await run(["endpoints", ...create, ...where], { stdin: "whsec_own\n" })).toMatchObject({ code: 0 });
  expect(calls).toEqual([
    {
      tenantId: "demo",
      url: "https://r.example/",
      name: "Desk",
      description: "of the desk",
      secret: "whsec_own",
      events: { names: ["snapshot.usable", "endpoint.disabled"] },
      documentTypes: { names: ["core/article", "core/tag"] },
      headers: { values: { "X-Team": "news desk", authorization: "Basic eA==" } },
      maxInFlight: 4,
      ratePerSecond: 2.5,
      disabled: true,
      verify: true,
    },
  ]);
});

test("endpoints create --verify --json prints the result of the ping", async () => {
  const { stdout } = await ofEndpoints("create", "--url", "https://r.example/", "--verify", "--json");
  const ping = { accepted: false, status: 500, failure: null, detail: null, tookMs: 12, answer: "" };
  expect(JSON.parse(stdout)).toEqual({ id: "e1", secret: "whsec_x", ping });
});

/** Runs `endpoints COMMAND` with a file of headers on standard input. */
const withHeaders = (stdin: string, ...argv: string[]) =>
  run(["endpoints", ...argv, "--header-file", "-", "--tenant", "demo", "--delivery", services.target], { stdin });

const headerLines = "Authorization: Bearer s3cret\r\n\nX-Team: sport \n";

test("a --header goes before a header of the same name in --header-file", async () => {
  const create = ["create", "--url", "https://r.example/", "--header", "X-Team: news"];
  expect(await withHeaders(headerLines, ...create)).toMatchObject({ code: 0 });
  const headers = { values: { Authorization: "Bearer s3cret", "X-Team": "news" } };
  expect(calls).toEqual([{ tenantId: "demo", url: "https://r.example/", headers }]);
});

test("endpoints update --header-file sends the headers of the file, one a line", async () => {
  expect(await withHeaders(headerLines, "update", "e1")).toMatchObject({ code: 0 });
  expect(calls).toEqual([
    {
      tenantId: "demo",
      endpointId: "e1",
      headers: { values: { Authorization: "Bearer s3cret", "X-Team": "sport" } },
    },
  ]);
});

test("a line of --header-file that is no header is refused with its number, without being quoted", async () => {
  const updated = await withHeaders("X-Team: news\nBearer s3cret\n", "update", "e1");
  const stderr = expect.stringContaining("-: line 2 must be a name, a colon and a value");
  expect(updated).toMatchObject({ code: 1, stderr });
  expect(updated.stderr).not.toContain("s3cret");
  expect(calls).toEqual([]);
});

test("a --header-file without a header is refused, and nothing is sent", async () => {
  const stderr = expect.stringContaining("- holds no header");
  expect(await withHeaders("\n", "update", "e1")).toMatchObject({ code: 1, stderr });
  expect(calls).toEqual([]);
});

test("a file of headers and --no-headers contradict each other: exit 2", async () => {
  const stderr = expect.stringContaining("cannot be used with option '--no-headers'");
  expect(await withHeaders("X-Team: news", "update", "e1", "--no-headers")).toMatchObject({ code: 2, stderr });
  expect(calls).toEqual([]);
});

test("a header and --no-headers contradict each other: exit 2", async () => {
  const updated = await ofEndpoints("update", "e1", "--no-headers", "--header", "X-Team: news");
  const stderr = expect.stringContaining("cannot be used with option '--no-headers'");
  expect(updated).toMatchObject({ code: 2, stderr });
  expect(calls).toEqual([]);
});

test.each([
  ["update", ["--rate", "0"]],
  ["enable", []],
  ["disable", []],
])("endpoints %s prints U+FFFD in place of a character that changes the direction of text", async (name, options) => {
  endpointRow.name = "Desk \u202e evil";
  onTestFinished(() => void (endpointRow.name = "Desk"));
  const { stdout } = await ofEndpoints(name, "e1", ...options);
  expect(stdout).toContain("Desk \ufffd evil");
});

test("endpoints update sends only the given settings", async () => {
  await ofEndpoints("update", "e1", "--rate", "0", "--no-headers");
  expect(calls).toEqual([{ tenantId: "demo", endpointId: "e1", headers: {}, ratePerSecond: 0 }]);
});

test('endpoints update --types "" sends an empty list of types', async () => {
  await ofEndpoints("update", "e1", "--types", "");
  expect(calls).toEqual([{ tenantId: "demo", endpointId: "e1", documentTypes: {} }]);
});

test("endpoints update without a setting fails, and sends nothing", async () => {
  expect(await ofEndpoints("update", "e1")).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing to") });
  expect(calls).toEqual([]);
});

test("endpoints show prints the state, document types and rate of an endpoint", async () => {
  const shown = (await ofEndpoints("show", "e1")).stdout;
  for (const line of ["state            enabled", "document types   all", "rate             no limit"]) {
    expect(shown).toContain(line);
  }
});

test("endpoints enable --json prints that the endpoint is enabled", async () => {
  expect(JSON.parse((await ofEndpoints("enable", "e1", "--json")).stdout)).toMatchObject({ enabled: true });
});

test("endpoints disable prints since when and by whom the endpoint is disabled", async () => {
  const disabled = await ofEndpoints("disable", "e1");
  expect(disabled.stdout).toContain("state            disabled since 2026-01-05T10:00:00.500Z by cli:kari");
});

test("endpoints rotate --json prints {id, secret, previousSecretEndsAt}", async () => {
  const { stdout } = await ofEndpoints("rotate", "e1", "--json");
  expect(JSON.parse(stdout)).toEqual({
    id: "e1",
    secret: "whsec_y",
    previousSecretEndsAt: "2026-01-05T10:00:00.500Z",
  });
});

test("endpoints rotate sends the overlap that --overlap gives, by default 24 h", async () => {
  await ofEndpoints("rotate", "e1");
  await ofEndpoints("rotate", "e1", "--overlap", "0");
  expect(calls).toMatchObject([{ overlap: "86400s" }, { overlap: "0s" }]);
});

test("endpoints test succeeds when the ping is accepted", async () => {
  expect(await ofEndpoints("test", "e1")).toMatchObject({
    code: 0,
    stdout: "the ping was accepted with 204 after 5 ms\n",
  });
});

test("endpoints test fails with the reason when the ping is not accepted", async () => {
  expect(await ofEndpoints("test", "e2")).toMatchObject({
    code: 1,
    stdout: "the ping failed after 7 ms: dns, r.example cannot be resolved\n",
    stderr: "error: endpoint e2 did not accept the ping\n",
  });
});

test("endpoints list shows an endpoint with its name and its URL", async () => {
  expect((await cli("endpoints", "list", "--tenant", "demo")).stdout).toContain("e1  Desk  https://r.example/");
});

test("endpoints delete --json prints the id of the endpoint", async () => {
  expect(await cli("endpoints", "delete", "e1", "--tenant", "demo", "--json")).toMatchObject({
    code: 0,
    stdout: '{"id":"e1"}\n',
  });
});

test("endpoints delete fails for an endpoint that does not exist", async () => {
  expect(await cli("endpoints", "delete", "e2", "--tenant", "demo")).toMatchObject({
    code: 1,
    stderr: "error: there is no endpoint e2\n",
  });
});

test("a read is repeated three times when the service cannot be reached, a write is not", async () => {
  const unreachable = ["--access", "127.0.0.1:1"];
  const read = await run(["tenants", "list", ...unreachable]);
  expect(read).toMatchObject({ code: 1, pausesMs: [200, 800, 2_000] });
  expect(read.stderr).toContain("the access service at 127.0.0.1:1 cannot be reached");
  expect(await run(["tenants", "create", "--id", "a", "--name", "A", ...unreachable])).toMatchObject({
    code: 1,
    pausesMs: [],
  });
});

test.each([
  [["tenants", "create", "--id", "a"], "required option '--name <name>'"],
  [["tenants", "burn"], "unknown command 'burn'"],
  [["tenants", "list", "--jason"], "unknown option '--jason'"],
])("%j is a wrong command line: exit 2", async (argv, words) => {
  expect(await run(argv)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
});

test("a setting that is missing everywhere is named, with how to give it and how to start a dev stack", async () => {
  expect(await run(["keys", "list"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no dev stack found: run `npm start`, or pass --tenant"),
  });
});
