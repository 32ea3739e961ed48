import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeGrants } from "./dev-grants.ts";

const trustDomain = "vidimus.localhost";
const operator = "spiffe://vidimus.localhost/operator";
const consoleIdentity = "spiffe://vidimus.localhost/console";
const members = "vidimus.access.v1.MemberService";
const grantFile = join(import.meta.dirname, "../../../../deploy/k8s/components/console/grant.json");
const grantedMethods = (JSON.parse(readFileSync(grantFile, "utf8")) as { grants: { methods: string[] }[] }).grants[0]!
  .methods;

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "vidimus-grants-"))));
afterEach(() => rm(dir, { recursive: true }));

const file = () => join(dir, "grants.json");
const written = async () => {
  await writeGrants(dir, trustDomain, "operator");
  return JSON.parse(await readFile(file(), "utf8")) as {
    grants: { identity: string; services: string[]; roles: string[] }[];
  };
};
const keep = (grants: unknown) => writeFile(file(), JSON.stringify({ grants }));

it("a new stack grants its operator all tenants", async () => {
  const [own] = (await written()).grants;
  expect(own).toMatchObject({ identity: operator, tenants: ["*"], services: expect.arrayContaining([members]) });
});

it("a new stack grants its console the methods that a cluster grants it", async () => {
  const [, own] = (await written()).grants;
  expect(own).toMatchObject({ identity: consoleIdentity, methods: grantedMethods, people: true });
});

const team = { identity: "spiffe://other/team", tenants: ["demo"], services: [members], roles: ["editor"] };
const old = {
  identity: operator,
  tenants: ["demo"],
  services: ["vidimus.documents.v1.DocumentService", "vidimus.own.v1.OwnService"],
  roles: ["owner", "intern"],
};

it("the operator in the grants file of an older stack gets the services and roles that it lacks", async () => {
  const { services, roles } = (await written()).grants[0]!;
  await keep([team, old]);
  const own = (await written()).grants[1];
  expect(own).toMatchObject({ services: expect.arrayContaining(services), roles: expect.arrayContaining(roles) });
});

it("every part of the grants in the grants file of an older stack is kept", async () => {
  await keep([team, old]);
  const { grants } = await written();
  expect(grants[0]).toEqual(team);
  expect(grants[1]).toMatchObject({ identity: operator, tenants: ["demo"], roles: expect.arrayContaining(old.roles) });
  expect(grants[1]!.services.slice(0, 2)).toEqual(old.services);
});

it("a complete grants file stays as it is", async () => {
  await keep([team, old]);
  await writeGrants(dir, trustDomain, "operator");
  const once = await readFile(file(), "utf8");
  await writeGrants(dir, trustDomain, "operator");
  expect(await readFile(file(), "utf8")).toBe(once);
});

it("a grants file without the operator and the console gets their grants", async () => {
  const { grants } = await written();
  await keep([team]);
  expect((await written()).grants).toEqual([team, ...grants]);
});

it("the console in the grants file of an older stack gets the methods that it lacks", async () => {
  const method = "vidimus.own.v1.OwnService/Get";
  await keep([{ identity: consoleIdentity, tenants: ["demo"], methods: [method], people: true }]);
  const [own] = (await written()).grants;
  expect(own).toMatchObject({ tenants: ["demo"], methods: [method, ...grantedMethods] });
  expect(own).not.toHaveProperty("services");
});

it.each(["{", "[]", "null", '{"grants":7}', '{"grants":[null]}'])(
  "a malformed grants file stays as it is: %s",
  async (text) => {
    await writeFile(file(), text);
    await writeGrants(dir, trustDomain, "operator");
    expect(await readFile(file(), "utf8")).toBe(text);
  },
);
