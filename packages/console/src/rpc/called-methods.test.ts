import { parseGrants } from "@vidimus/kit/rpc/doors/teams/parse-grants";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rights, rolesWith } from "../domain/rights.ts";
import { calledMethods } from "./called-methods.ts";

const grantFile = new URL("../../../../deploy/k8s/components/console/grant.json", import.meta.url);

test("the grant that deploys with the console names exactly the calledMethods, and no whole service", () => {
  const [grant, ...others] = parseGrants(readFileSync(grantFile, "utf8")).values();
  expect(others).toEqual([]);
  expect(grant).toMatchObject({ identity: "spiffe://vidimus.example/console", people: true });
  expect([...(grant?.services ?? [])]).toEqual([]);
  const named = calledMethods.flatMap(([service, methods]) => {
    const called = new Set<string>(methods);
    return service.methods
      .filter(({ localName }) => called.has(localName))
      .map(({ name }) => `${service.typeName}/${name}`);
  });
  expect([...(grant?.methods ?? [])].toSorted()).toEqual(named.toSorted());
  expect(named.filter((name) => /KeyAdminService|Tenant$/.test(name))).toEqual([]);
});

test("the console's grant has exactly the roles in which its pages act", () => {
  const [grant] = parseGrants(readFileSync(grantFile, "utf8")).values();
  const acted = rights.flatMap((right) => rolesWith(right));
  expect([...(grant?.roles ?? [])].toSorted()).toEqual([...new Set(acted)].toSorted());
});
