import { Ajv2020 } from "ajv/dist/2020.js";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mayNameTenant } from "./grants.ts";
import { parseGrants } from "./parse-grants.ts";

const schema: object = JSON.parse(
  readFileSync(new URL("../../../../../../docs/grants.schema.json", import.meta.url), "utf8"),
);
const validate = new Ajv2020().compile(schema);

const newsroom = {
  identity: "spiffe://vidimus.example/team/newsroom",
  tenants: ["demo", "rival"],
  services: ["vidimus.documents.v1.DocumentService"],
  roles: ["writer", "editor"],
};
const operators = { ...newsroom, identity: "spiffe://vidimus.example/operators", tenants: ["*"] };
const fileOf = (...grants: unknown[]) => ({ grants });
const parse = (file: unknown) => parseGrants(JSON.stringify(file));

function faultsOf(text: string): string[] {
  try {
    parseGrants(text);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

it("a grants file says which tenants, services and roles an identity has", () => {
  const grants = parse({ $schema: "grants.schema.json", ...fileOf(newsroom, operators) });
  const grant = grants.get(newsroom.identity)!;
  expect([...grant.services]).toEqual(newsroom.services);
  expect([...grant.roles]).toEqual(newsroom.roles);
  expect(["demo", "rival", "acme", ""].map((tenant) => mayNameTenant(grant, tenant))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(mayNameTenant(grants.get(operators.identity)!, "any")).toBe(true);
  expect(grants.get("spiffe://vidimus.example/other")).toBeUndefined();
});

it("a grant may have `methods` and `people`, and may omit them", () => {
  const listMembers = "vidimus.access.v1.MemberService/ListMembers";
  const { services: _, ...byMethods } = { ...newsroom, methods: [listMembers], people: true };
  const grant = parse(fileOf(byMethods)).get(newsroom.identity)!;
  expect([[...grant.services], [...grant.methods], grant.people]).toEqual([[], [listMembers], true]);
  const plain = parse(fileOf(newsroom)).get(newsroom.identity)!;
  expect([[...plain.methods], plain.people]).toEqual([[], false]);
});

it.each([
  [{ methods: ["ListMembers"] }, '/grants/0/methods/0: must be one of full names of methods, not "ListMembers"'],
  [{ people: "yes" }, "/grants/0/people: must be true or false"],
])("a grant with %j is refused, with a pointer to the fault", (faulty, fault) => {
  expect(faultsOf(JSON.stringify(fileOf({ ...newsroom, ...faulty })))).toEqual([fault]);
});

it("a grant with neither `services` nor `methods` is refused", () => {
  const { services: _, ...neither } = newsroom;
  expect(faultsOf(JSON.stringify(fileOf(neither)))).toEqual(["/grants/0: must have services or methods"]);
});

it("all faults of a grants file are named at once, each with its pointer", () => {
  const file = {
    extra: 1,
    grants: [
      { ...newsroom, tenants: ["Demo", "demo", "demo"], note: "" },
      { identity: "newsroom", tenants: "demo", services: ["DocumentService"], roles: [""] },
      "team",
      newsroom,
    ],
  };
  expect(faultsOf(JSON.stringify(file))).toEqual([
    "/extra: is not known",
    "/grants/0/note: is not known",
    '/grants/0/tenants/0: must be one of tenant ids, or "*", not "Demo"',
    '/grants/0/tenants/2: "demo" is named twice',
    '/grants/1/tenants: must be a list of tenant ids, or "*"',
    '/grants/1/services/0: must be one of full names of services, not "DocumentService"',
    '/grants/1/roles/0: must be one of roles, not ""',
    "/grants/1/identity: must be spiffe://<trust domain>/<path>",
    "/grants/2: must be an object",
    `/grants/3/identity: ${newsroom.identity} has a grant already`,
  ]);
});

it("a grants file that is not JSON is refused", () => {
  expect(faultsOf("{")).toEqual([expect.stringContaining("is not JSON")]);
});

describe("the published schema and the parser agree about", () => {
  const grantOf = (member: string, ...values: unknown[]): [string, unknown][] =>
    values.map((value) => [
      `a grant whose \`${member}\` is ${JSON.stringify(value)}`,
      fileOf({ ...newsroom, [member]: value }),
    ]);
  const withoutServices = { identity: newsroom.identity, tenants: [], roles: [] };
  const methodsAlone = (...values: unknown[]): [string, unknown][] =>
    values.map((methods) => [
      `a grant without services whose \`methods\` is ${JSON.stringify(methods)}`,
      fileOf({ ...withoutServices, methods }),
    ]);
  const methods = [["a.B/C"], ["a.B/c"], ["a.B"], ["B/C"], ["a.B/C", "a.B/C"], "a.B/C", []];
  it.each<[string, unknown]>([
    ["a file without a grant", fileOf()],
    ["a file of two grants", fileOf(newsroom, operators)],
    ["a grant of empty lists", fileOf({ ...newsroom, tenants: [], services: [], roles: [] })],
    ["an empty object", {}],
    ["a list", []],
    ["null", null],
    ["grants that are an object", { grants: {} }],
    ["a file with an unknown member", { ...fileOf(), more: 1 }],
    ["a grant that is a number", fileOf(1)],
    ["a grant with an unknown member", fileOf({ ...newsroom, more: 1 })],
    ["a grant of nothing but its identity", fileOf({ identity: newsroom.identity })],
    ["a grant with neither services nor methods", fileOf(withoutServices)],
    ...grantOf("identity", null, "", "spiffe://a", "spiffe://a/b/", "spiffe://a/../b", "spiffe://A/b", "https://a/b"),
    ...grantOf("tenants", ["**"], ["Demo"], ["1"], [1], ["demo", "demo"], "demo", [""]),
    ...grantOf("services", ["a.B"], ["B"], [".B"], ["a.b"], ["*"]),
    ...grantOf("methods", ...methods),
    ...methodsAlone(...methods),
    ...grantOf("people", true, false, null, "true"),
    ...grantOf("roles", ["*"], ["chief-editor"], ["a b"], [""]),
  ])("%s", (_, file) => {
    expect(faultsOf(JSON.stringify(file)).length === 0).toBe(validate(file));
  });
});
