import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DomainError } from "@vidimus/kit/errors";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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
let services: Awaited<ReturnType<typeof openTestServices>>;
/** The calls that were received, with actor and role. */
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
      listApiKeys: () => ({ apiKeys: [keyRow] }),
    }),
    route(EndpointService, {
      createEndpoint({ tenantId, url }) {
        calls.push({ tenantId, url });
        return { endpoint: { endpointId: "e1", tenantId, url, createdAt }, secret: "whsec_x" };
      },
      listEndpoints: () => ({
        endpoints: [{ endpointId: "e1", tenantId: "demo", url: "https://r.example/", createdAt }],
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

test("--role is passed on", async () => {
  await cli("tenants", "create", "--id", "nord", "--name", "Nordlys", "--role", "owner");
  expect(calls).toMatchObject([{ role: "owner" }]);
});

test("a service's refusal is printed with its own message", async () => {
  const { code, stdout, stderr } = await cli("tenants", "create", "--id", "taken", "--name", "T", "--json");
  expect([code, stdout, stderr]).toEqual([1, "", "error: tenant taken exists\n"]);
});

test("tenants list gives a table to people and JSON to machines", async () => {
  expect((await cli("tenants", "list")).stdout).toBe(
    "ID    NAME  CREATED                   DISABLED\ndemo  Demo  2026-01-05T10:00:00.500Z  -\n",
  );
  const { stdout } = await cli("tenants", "list", "--json");
  expect(JSON.parse(stdout)).toEqual([
    { id: "demo", name: "Demo", createdAt: "2026-01-05T10:00:00.500Z", disabledAt: null },
  ]);
});

test("keys create answers {id, key, scopes}", async () => {
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

test("keys list never shows more of a key than its prefix", async () => {
  const { stdout } = await cli("keys", "list", "--tenant", "demo", "--json");
  expect(JSON.parse(stdout)).toEqual([
    {
      id: "k1",
      prefix: "abcdefghijkl",
      name: "Feed",
      scopes: ["documents:create"],
      createdAt: "2026-01-05T10:00:00.500Z",
      createdBy: "kari",
      expiresAt: null,
      revokedAt: null,
      replacedBy: null,
      lastUsedAt: null,
    },
  ]);
});

test("endpoints create answers {id, secret}", async () => {
  const { stdout } = await cli("endpoints", "create", "--tenant", "demo", "--url", "https://r.example/", "--json");
  expect(JSON.parse(stdout)).toEqual({ id: "e1", secret: "whsec_x" });
  expect(calls).toEqual([{ tenantId: "demo", url: "https://r.example/" }]);
});

test("endpoints list and delete", async () => {
  expect((await cli("endpoints", "list", "--tenant", "demo")).stdout).toContain("e1  https://r.example/");
  expect(await cli("endpoints", "delete", "e1", "--tenant", "demo", "--json")).toMatchObject({
    code: 0,
    stdout: '{"id":"e1"}\n',
  });
  expect(await cli("endpoints", "delete", "e2", "--tenant", "demo")).toMatchObject({
    code: 1,
    stderr: "error: there is no endpoint e2\n",
  });
});

test("a read is repeated while the service cannot be reached, a write is not", async () => {
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

test("a setting that is missing everywhere is named, with the way to a dev stack", async () => {
  expect(await run(["keys", "list"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no dev stack found: run `npm start`, or pass --tenant"),
  });
});
