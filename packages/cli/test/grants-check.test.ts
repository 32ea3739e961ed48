import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { run } from "./support/run.ts";

let file: string;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "grants-check-"));
  file = join(dir, "grants.json");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const newsroom = {
  identity: "spiffe://vidimus.example/team/newsroom",
  tenants: ["demo"],
  services: ["vidimus.documents.v1.DocumentService"],
  roles: ["editor"],
};
const check = async (...grants: object[]) => {
  await writeFile(file, JSON.stringify({ grants }));
  return run(["grants", "check", file], { cwd: dir });
};

it('a file without a fault passes, and the output says "no fault"', async () => {
  expect(await check(newsroom)).toMatchObject({ code: 0, stdout: `${file}: 1 grant, no fault\n` });
});

it("--json prints the grants of a file without a fault", async () => {
  await writeFile(file, JSON.stringify({ grants: [newsroom] }));
  const { stdout } = await run(["grants", "check", file, "--json"], { cwd: dir });
  expect(JSON.parse(stdout)).toEqual([{ ...newsroom, methods: [], people: false }]);
});

it("the error about a faulty file lists every fault with its JSON pointer", async () => {
  const { code, stderr } = await check({ ...newsroom, tenants: ["Demo"] }, { ...newsroom, roles: "editor" });
  expect(code).toBe(1);
  expect(stderr).toContain("/grants/0/tenants/0: must be one of tenant ids");
  expect(stderr).toContain("/grants/1/roles: must be a list of roles");
  expect(stderr).toContain("/grants/1/identity: spiffe://vidimus.example/team/newsroom has a grant already");
});

it("a service that no teams door serves is a fault", async () => {
  const services = ["vidimus.documents.v1.SnapshotFeedService", "vidimus.documents.v1.DocumentServices"];
  const { code, stderr } = await check({ ...newsroom, services });
  expect(code).toBe(1);
  for (const service of services) expect(stderr).toContain(`no teams door serves ${service}`);
});

it("a method is a fault only if no teams door serves it", async () => {
  const method = "vidimus.access.v1.MemberService/ListMembers";
  const { services: _, ...byMethod } = newsroom;
  expect(await check({ ...byMethod, methods: [method] })).toMatchObject({ code: 0 });
  const { code, stderr } = await check({ ...byMethod, methods: [`${method}s`] });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`no teams door serves ${method}s`)]);
});

it("the error about a missing file names the file", async () => {
  const { code, stderr } = await run(["grants", "check", "none.json"], { cwd: dir });
  expect([code, stderr]).toEqual([1, expect.stringContaining("none.json cannot be read (ENOENT)")]);
});
