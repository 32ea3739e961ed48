import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeGrants } from "./dev-grants.ts";

const operator = "spiffe://vidimus.localhost/operator";
const members = "vidimus.access.v1.MemberService";

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "vidimus-grants-"))));
afterEach(() => rm(dir, { recursive: true }));

const file = () => join(dir, "grants.json");
const written = async () => {
  await writeGrants(dir, operator);
  return JSON.parse(await readFile(file(), "utf8")) as { grants: { identity: string; services: string[] }[] };
};
const keep = (grants: unknown) => writeFile(file(), JSON.stringify({ grants }));

it("a new stack grants its operator everything", async () => {
  expect((await written()).grants).toMatchObject([
    { identity: operator, tenants: ["*"], services: expect.arrayContaining([members]) },
  ]);
});

it("a file of an older stack gets what its operator lacks, and keeps what was edited", async () => {
  const team = { identity: "spiffe://other/team", tenants: ["demo"], services: [members], roles: ["editor"] };
  const old = {
    identity: operator,
    tenants: ["demo"],
    services: ["vidimus.documents.v1.DocumentService", "vidimus.own.v1.OwnService"],
    roles: ["owner", "intern"],
  };
  await keep([team, old]);
  const { grants } = await written();
  expect(grants[0]).toEqual(team);
  expect(grants[1]).toMatchObject({ tenants: ["demo"], roles: expect.arrayContaining(["intern", "integrator"]) });
  expect(grants[1]!.services.slice(0, 2)).toEqual(old.services);
  expect(grants[1]!.services).toContain(members);
  const once = await readFile(file(), "utf8");
  await writeGrants(dir, operator);
  expect(await readFile(file(), "utf8")).toBe(once);
});

it("a file without the operator gets its grant", async () => {
  await keep([]);
  expect((await written()).grants).toMatchObject([{ identity: operator }]);
});

it.each(["{", "[]", "null", '{"grants":7}', '{"grants":[null]}'])(
  "a file that is none stays as it is: %s",
  async (text) => {
    await writeFile(file(), text);
    await writeGrants(dir, operator);
    expect(await readFile(file(), "utf8")).toBe(text);
  },
);
