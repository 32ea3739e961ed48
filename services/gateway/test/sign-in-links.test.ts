import { Code } from "@connectrpc/connect";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { accessCollections } from "../src/store/access-database.ts";
import { peopleOf, refusal } from "./support/people.ts";
import { openGateway } from "./support/start-gateway.ts";

let gateway: Awaited<ReturnType<typeof openGateway>>;
let people: ReturnType<typeof peopleOf>;
let mongo: Awaited<ReturnType<typeof openMongo>>;

beforeAll(async () => {
  gateway = await openGateway();
  people = peopleOf(gateway.grpcPort);
  mongo = await openMongo({ url: inject("mongoUrl"), database: gateway.config.database, appName: "test" });
});

afterAll(async () => {
  await mongo[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const operator = { issuer: "vidimus:link", subject: "operator" };

describe("a sign-in code", () => {
  test("made without a subject and roles makes the operator an owner", async () => {
    const tenantId = await people.tenant();
    const { code } = await people.members.createSignInLink({ tenantId });
    const { member } = await people.members.redeemSignInLink({ code });
    const memberId = personActor(operator);
    expect(member).toMatchObject({ memberId, tenantId, identity: operator, name: "operator", roles: ["owner"] });
  });

  test("is used up by a sign-in, not by being read before", async () => {
    const tenantId = await people.tenant();
    const { code } = await people.members.createSignInLink({ tenantId });
    for (let times = 0; times < 2; times += 1) {
      const found = await people.members.getSignInLink({ code });
      expect(found).toMatchObject({ identity: operator, tenantId, roles: ["owner"] });
    }
    await people.members.redeemSignInLink({ code });
    const calls = [people.members.getSignInLink({ code }), people.members.redeemSignInLink({ code })];
    for (const refused of await Promise.all(calls.map(refusal))) expect(refused.code).toBe(Code.NotFound);
  });

  test.each([1, 2, 3, 4])("succeeds for one of two uses at once (round %i)", async () => {
    const tenantId = await people.tenant();
    const { code } = await people.members.createSignInLink({ tenantId });
    const outcomes = await Promise.allSettled([1, 2].map(() => people.members.redeemSignInLink({ code })));
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as { code: Code }] : []));
    expect(refused).toMatchObject([{ code: Code.NotFound }]);
  });

  test("ends after ten minutes", async () => {
    const tenantId = await people.tenant();
    const before = BigInt(Math.floor(Date.now() / 1_000));
    const { code, expiresAt } = await people.members.createSignInLink({ tenantId });
    expect(expiresAt!.seconds - before).toBeGreaterThanOrEqual(600n);
    expect(expiresAt!.seconds - before).toBeLessThan(610n);
    await accessCollections(mongo.db).signInLinks.updateMany(
      { tenantId },
      { $set: { expiresAt: new Date(Date.now() - 1) } },
    );
    const calls = [people.members.getSignInLink({ code }), people.members.redeemSignInLink({ code })];
    for (const refused of await Promise.all(calls.map(refusal))) expect(refused.code).toBe(Code.NotFound);
  });

  test("signs a member in with the roles that the member has when the code is used", async () => {
    const tenantId = await people.tenant();
    const first = await people.members.createSignInLink({ tenantId, subject: "eve", roles: ["writer", "editor"] });
    const { member } = await people.members.redeemSignInLink({ code: first.code });
    expect(member).toMatchObject({ name: "eve", roles: ["editor", "writer"] });
    const { memberId } = member!;
    const second = await people.members.createSignInLink({ tenantId, subject: "eve" });
    await people.members.updateMemberRoles({ tenantId, memberId, roles: ["chief"] });
    expect(await people.members.getSignInLink({ code: second.code })).toMatchObject({ roles: ["chief"] });
    const again = await people.members.redeemSignInLink({ code: second.code });
    expect(again.member).toMatchObject({ memberId, roles: ["chief"] });
  });

  test("is not made with roles other than the member's: FAILED_PRECONDITION; the member's roles stay", async () => {
    const tenantId = await people.tenant();
    const { code } = await people.members.createSignInLink({ tenantId, roles: ["writer"] });
    await people.members.redeemSignInLink({ code });
    const request = { tenantId, roles: ["owner"] };
    expect(await refusal(people.members.createSignInLink(request))).toMatchObject({ code: Code.FailedPrecondition });
    await people.members.createSignInLink({ tenantId, roles: ["writer"] });
    expect(await people.roles(tenantId)).toEqual({ operator: ["writer"] });
  });

  test.each([
    ["a subject of 65 characters", { subject: "s".repeat(65) }, Code.InvalidArgument],
    ["a subject with a line feed", { subject: "a\nb" }, Code.InvalidArgument],
    ["a role with a space", { roles: ["a b"] }, Code.InvalidArgument],
    ["a tenant that does not exist", { tenantId: "nobody" }, Code.NotFound],
  ])("is not made for %s", async (_name, request, code) => {
    const tenantId = await people.tenant();
    expect(await refusal(people.members.createSignInLink({ tenantId, ...request }))).toMatchObject({ code });
  });
});
