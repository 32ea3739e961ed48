import { Code } from "@connectrpc/connect";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { accessCollections } from "../src/store/access-database.ts";
import { peopleOf, refusal, someone } from "./support/people.ts";
import { accessClient, memberClient, openGateway } from "./support/start-gateway.ts";

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

const memberId = (subject: string) => someone(subject).actor;

describe("InviteMember", () => {
  test("lets an owner give the role owner", async () => {
    const tenantId = await people.tenant({ ada: ["owner"] });
    const { invitation } = await people.as("ada", "owner").inviteMember({ tenantId, roles: ["owner"] });
    expect(invitation).toMatchObject({ roles: ["owner"] });
  });

  test("lets an admin give the roles admin, integrator and culture-desk, but not owner", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["admin", "writer"] });
    const asAdmin = people.as("bo", "admin");
    await asAdmin.inviteMember({ tenantId, roles: ["admin", "integrator", "culture-desk"] });
    for (const admin of [asAdmin, memberClient(gateway.grpcPort, "admin")]) {
      const more = admin.inviteMember({ tenantId, roles: ["writer", "owner"] });
      expect(await refusal(more)).toMatchObject({ code: Code.PermissionDenied });
    }
  });

  test.each([
    ["an empty list of roles", { roles: [] }],
    ["a note of 201 characters", { roles: ["writer"], note: "n".repeat(201) }],
    ["a note with a control character", { roles: ["writer"], note: "a\u0007" }],
  ])("%s is INVALID_ARGUMENT", async (_name, invitation) => {
    const tenantId = await people.tenant();
    const call = people.members.inviteMember({ tenantId, ...invitation });
    expect(await refusal(call)).toMatchObject({ code: Code.InvalidArgument });
  });

  test("a tenant has at most 100 open invitations, also when many are asked for at once", async () => {
    const tenantId = await people.tenant();
    const invite = () => people.members.inviteMember({ tenantId, roles: ["writer"] });
    for (let made = 0; made < 96; made += 8) await Promise.all(Array.from({ length: 8 }, invite));
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, invite));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    const { invitations } = await people.members.listInvitations({ tenantId });
    expect(invitations).toHaveLength(100);
    expect(await refusal(invite())).toMatchObject({ code: Code.FailedPrecondition });
    await people.members.revokeInvitation({ tenantId, invitationId: invitations[0]!.invitationId });
    await invite();
  });

  test("for a disabled tenant is FAILED_PRECONDITION", async () => {
    const tenantId = await people.tenant();
    await accessClient(gateway.grpcPort).disableTenant({ tenantId });
    const call = people.members.inviteMember({ tenantId, roles: ["writer"] });
    expect(await refusal(call)).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("for a tenant that does not exist is NOT_FOUND", async () => {
    const call = people.members.inviteMember({ tenantId: "nobody", roles: ["writer"] });
    expect(await refusal(call)).toMatchObject({ code: Code.NotFound });
  });
});

describe("an invitation", () => {
  test("is not used up by being listed and read", async () => {
    const tenantId = await people.tenant();
    const first = await people.members.inviteMember({ tenantId, roles: ["writer"], note: " Bo, culture " });
    const second = await people.members.inviteMember({ tenantId, roles: ["writer", "editor"] });
    const { invitations } = await people.members.listInvitations({ tenantId });
    expect(invitations).toEqual([second.invitation, first.invitation]);
    expect(first.invitation).toMatchObject({ tenantId, roles: ["writer"], note: "Bo, culture", invitedBy: "ada" });
    expect(first.code).toMatch(/^[\w-]{43}$/);
    for (let times = 0; times < 2; times += 1) {
      const found = await people.members.getInvitation({ code: second.code });
      expect(found).toMatchObject({ invitation: second.invitation, tenantName: expect.stringMatching(/^Tenant \d+$/) });
    }
  });

  test("holds for seven days", async () => {
    const tenantId = await people.tenant();
    const { invitation, code } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
    const { createdAt, expiresAt } = invitation!;
    expect(expiresAt!.seconds - createdAt!.seconds).toBe(7n * 86_400n);
    const { invitations: rows } = accessCollections(mongo.db);
    await rows.updateOne({ _id: invitation!.invitationId }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    expect((await people.members.listInvitations({ tenantId })).invitations).toEqual([]);
    expect(await refusal(people.members.getInvitation({ code }))).toMatchObject({ code: Code.NotFound });
    const accepted = people.members.acceptInvitation({ code, ...someone("bo") });
    expect(await refusal(accepted)).toMatchObject({ code: Code.NotFound });
  });

  test("that gives the role owner cannot be revoked by an admin", async () => {
    const tenantId = await people.tenant();
    const { invitation } = await people.members.inviteMember({ tenantId, roles: ["owner"] });
    const request = { tenantId, invitationId: invitation!.invitationId };
    const asAdmin = memberClient(gateway.grpcPort, "admin").revokeInvitation(request);
    expect(await refusal(asAdmin)).toMatchObject({ code: Code.PermissionDenied });
  });

  test("that was revoked, even twice, is refused like one that never existed", async () => {
    const tenantId = await people.tenant();
    const { invitation, code } = await people.members.inviteMember({ tenantId, roles: ["owner"] });
    const { invitationId } = invitation!;
    await people.members.revokeInvitation({ tenantId, invitationId });
    await people.members.revokeInvitation({ tenantId, invitationId });
    const never = await refusal(people.members.getInvitation({ code: "A".repeat(43) }));
    expect(await refusal(people.members.getInvitation({ code }))).toMatchObject({ message: never.message });
    const accepted = people.members.acceptInvitation({ code, ...someone("bo") });
    expect(await refusal(accepted)).toMatchObject({ code: Code.NotFound, message: never.message });
  });

  test("that is revoked is named in the audit log by its note", async () => {
    const tenantId = await people.tenant();
    const { invitation } = await people.members.inviteMember({ tenantId, roles: ["owner"], note: "Bo Ek" });
    await people.members.revokeInvitation({ tenantId, invitationId: invitation!.invitationId });
    const asked = { tenantId, actions: ["revoke_invitation"] };
    const { entries } = await accessClient(gateway.grpcPort).listAuditEntries(asked);
    expect(entries.map(({ detailJson }) => JSON.parse(Buffer.from(detailJson).toString()) as object)).toMatchObject([
      { note: "Bo Ek" },
    ]);
  });

  test("of another tenant cannot be revoked: it is NOT_FOUND", async () => {
    const tenantId = await people.tenant();
    const { invitation } = await people.members.inviteMember({ tenantId, roles: ["owner"] });
    const elsewhere = { tenantId: await people.tenant(), invitationId: invitation!.invitationId };
    expect(await refusal(people.members.revokeInvitation(elsewhere))).toMatchObject({ code: Code.NotFound });
    expect((await people.members.listInvitations({ tenantId })).invitations).toHaveLength(1);
  });
});

describe("an accepted invitation", () => {
  /** Invites bo, who accepts. */
  async function accepted() {
    const tenantId = await people.tenant({ ada: ["owner"] });
    const { code, invitation } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
    await people.members.acceptInvitation({ code, ...someone("bo") });
    return { tenantId, code, invitationId: invitation!.invitationId };
  }

  test("cannot be revoked: that is FAILED_PRECONDITION", async () => {
    const { tenantId, invitationId } = await accepted();
    const revoked = people.members.revokeInvitation({ tenantId, invitationId });
    expect(await refusal(revoked)).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("does not let a removed member in again: its code is NOT_FOUND", async () => {
    const { tenantId, code } = await accepted();
    await people.members.removeMember({ tenantId, memberId: memberId("bo") });
    const back = people.members.acceptInvitation({ code, ...someone("bo") });
    expect(await refusal(back)).toMatchObject({ code: Code.NotFound });
  });
});

describe("AcceptInvitation", () => {
  /** Ada invites, bo accepts. */
  async function acceptedByBo() {
    const tenantId = await people.tenant({ ada: ["owner"] });
    const { code } = await people.as("ada", "owner").inviteMember({ tenantId, roles: ["editor", "writer"] });
    const { member } = await people.members.acceptInvitation({ code, ...someone("bo"), address: "bo@example.org" });
    return { tenantId, code, member };
  }

  test("makes the person a member with the roles of the invitation", async () => {
    const { tenantId, member } = await acceptedByBo();
    expect(member).toMatchObject({
      memberId: memberId("bo"),
      tenantId,
      identity: someone("bo").identity,
      name: "bo",
      address: "bo@example.org",
      roles: ["editor", "writer"],
      invitedBy: memberId("ada"),
    });
  });

  test("answers the same member when the same person repeats it", async () => {
    const { code, member } = await acceptedByBo();
    const again = await people.members.acceptInvitation({ code, ...someone("bo") });
    expect(again.member).toEqual(member);
  });

  test("of an invitation that another person has accepted is NOT_FOUND", async () => {
    const { code } = await acceptedByBo();
    const other = people.members.acceptInvitation({ code, ...someone("cy") });
    expect(await refusal(other)).toMatchObject({ code: Code.NotFound });
  });

  test("adds roles to those a member has", async () => {
    const tenantId = await people.tenant({ bo: ["writer"] });
    expect(await people.join(tenantId, "bo", ["editor"])).toMatchObject({ roles: ["editor", "writer"] });
  });

  test.each([1, 2, 3, 4])("succeeds for only one of two people who accept at once (round %i)", async () => {
    const tenantId = await people.tenant();
    const { code } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
    const accept = (subject: string) => people.members.acceptInvitation({ code, ...someone(subject) });
    const outcomes = await Promise.allSettled([accept("bo"), accept("cy")]);
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as { code: Code }] : []));
    expect(refused).toMatchObject([{ code: Code.NotFound }]);
    expect(Object.keys(await people.roles(tenantId))).toHaveLength(1);
  });

  test.each([
    ["removed", undefined],
    ["demoted", ["admin"]],
  ])("is FAILED_PRECONDITION while the inviter, now %s, may not give the role owner", async (_name, roles) => {
    const tenantId = await people.tenant({ ada: ["owner"], cy: ["owner"] });
    const { code } = await people.as("ada", "owner").inviteMember({ tenantId, roles: ["owner"] });
    const ada = { tenantId, memberId: memberId("ada") };
    await (roles ? people.members.updateMemberRoles({ ...ada, roles }) : people.members.removeMember(ada));
    const accept = () => people.members.acceptInvitation({ code, ...someone("bo") });
    expect(await refusal(accept())).toMatchObject({ code: Code.FailedPrecondition });
    expect(await people.roles(tenantId)).not.toHaveProperty("bo");
    await people.join(tenantId, "ada", ["owner"]);
    await accept();
  });

  test("succeeds when the inviter was demoted and may still give the role", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], cy: ["owner"] });
    const { code } = await people.as("ada", "owner").inviteMember({ tenantId, roles: ["writer"] });
    await people.members.updateMemberRoles({ tenantId, memberId: memberId("ada"), roles: ["admin"] });
    await people.members.acceptInvitation({ code, ...someone("bo") });
    expect(await people.roles(tenantId)).toMatchObject({ bo: ["writer"] });
  });

  test("is FAILED_PRECONDITION while the tenant is disabled", async () => {
    const tenantId = await people.tenant();
    const { code } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
    await accessClient(gateway.grpcPort).disableTenant({ tenantId });
    const accept = people.members.acceptInvitation({ code, ...someone("bo") });
    expect(await refusal(accept)).toMatchObject({ code: Code.FailedPrecondition });
  });
});
