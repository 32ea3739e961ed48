import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { parseGrants } from "@vidimus/kit/grants/parse-grants";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { calledMethods } from "../src/rpc/memberships.ts";
import { grantFile } from "./support/open-console.ts";

test("the grant that deploys with the console names the methods that its pages call, and no service", () => {
  const [grant, ...others] = parseGrants(readFileSync(grantFile, "utf8")).values();
  expect(others).toEqual([]);
  expect(grant).toMatchObject({ identity: "spiffe://vidimus.example/console", people: true });
  expect([...(grant?.services ?? [])]).toEqual([]);
  const named = calledMethods.map((method) => `${MemberService.typeName}/${MemberService.method[method].name}`);
  expect([...(grant?.methods ?? [])].toSorted()).toEqual(named.toSorted());
});
