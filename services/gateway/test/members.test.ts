import { toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { MemberSchema } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { peopleOf, refusal, someone } from "./support/people.ts";
import { accessClient, memberClient, openGateway } from "./support/start-gateway.ts";

let gateway: Awaited<ReturnType<typeof openGateway>>;
let people: ReturnType<typeof peopleOf>;

beforeAll(async () => {
  gateway = await openGateway();
  people = peopleOf(gateway.grpcPort);
});

afterAll(() => gateway[Symbol.asyncDispose]());

const memberId = (subject: string) => someone(subject).actor;

describe("ListMembers", () => {
  test("of a new tenant is empty", async () => {
    expect(await people.roles(await people.tenant())).toEqual({});
  });

  test("of a tenant that does not exist is NOT_FOUND", async () => {
    for (const namesOnly of [false, true]) {
      const call = people.members.listMembers({ tenantId: "nobody", namesOnly });
      expect(await refusal(call)).toMatchObject({ code: Code.NotFound });
    }
  });

  const names = ["Östen", "ada", "Zoe", "Bo", "ada", "\u{FDFA}".repeat(200)];

  /** Makes a member of each name, and lists them in pages of `limit`. */
  async function listed(limit: number): Promise<{ name: string; address: string }[]> {
    const tenantId = await people.tenant();
    for (const [at, name] of names.entries()) {
      const { code } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
      const { identity } = someone(`${at}`);
      await people.members.acceptInvitation({ code, identity, name, address: `${at}@example.org` });
    }
    const seen = [];
    let pageToken = "";
    do {
      const page = await people.members.listMembers({ tenantId, limit, pageToken });
      seen.push(...page.members);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return seen;
  }

  test("members come by name, whatever its case", async () => {
    const seen = await listed(0);
    expect(seen.map(({ name }) => name)).toEqual(["ada", "ada", "Bo", "Zoe", "Östen", names[5]]);
  });

  test("reading in pages of one member yields each member once", async () => {
    const addresses = (await listed(1)).map(({ address }) => address);
    expect(addresses.toSorted()).toEqual(names.map((_, at) => `${at}@example.org`));
  });

  test("with names_only, the list has only the id and the name of each member", async () => {
    const tenantId = await people.tenant({ cora: ["owner"], adam: ["writer"] });
    const page = await people.members.listMembers({ tenantId, limit: 5_000, namesOnly: true });
    const whole = (await people.members.listMembers({ tenantId })).members;
    expect(page.members.map(({ name }) => name)).toEqual(["adam", "cora"]);
    expect(page.members.map((member) => toJson(MemberSchema, member))).toEqual(
      whole.map(({ memberId: id, name }) => ({ memberId: id, name })),
    );
    const first = await people.members.listMembers({ tenantId, limit: 1, namesOnly: true });
    const second = await people.members.listMembers({ tenantId, namesOnly: true, pageToken: first.nextPageToken });
    expect(second.members.map(({ name }) => name)).toEqual(["cora"]);
  });

  test.each([
    ["a limit of 201", { limit: 201 }],
    ["a limit of 5,001 with names_only", { limit: 5_001, namesOnly: true }],
    ["a token that no page gave", { pageToken: "x" }],
    ["a token of another list", { pageToken: "WzEsMV0" }],
  ])("%s is INVALID_ARGUMENT", async (_name, page) => {
    const tenantId = await people.tenant();
    expect(await refusal(people.members.listMembers({ tenantId, ...page }))).toMatchObject({
      code: Code.InvalidArgument,
    });
  });
});

describe("GetMember", () => {
  test("finds a member only in the member's tenant", async () => {
    const [tenantId, other] = [await people.tenant(), await people.tenant()];
    await people.join(tenantId, "gaby", ["owner"]);
    const { member } = await people.members.getMember({ tenantId, memberId: memberId("gaby") });
    expect(member).toMatchObject({ memberId: memberId("gaby"), roles: ["owner"] });
    const elsewhere = { tenantId: other, memberId: memberId("gaby") };
    expect(await refusal(people.members.getMember(elsewhere))).toMatchObject({ code: Code.NotFound });
  });

  test("is PERMISSION_DENIED for a caller in the role writer", async () => {
    const tenantId = await people.tenant({ gaby: ["owner"] });
    const asWriter = memberClient(gateway.grpcPort, "writer");
    const { code } = await refusal(asWriter.getMember({ tenantId, memberId: memberId("gaby") }));
    expect(code).toBe(Code.PermissionDenied);
  });
});

describe("ListMemberships", () => {
  test("the tenants of an identity come by id, with the roles that the identity has in each", async () => {
    const first = await people.tenant();
    const second = await people.tenant({ ada: ["writer", "admin"], bo: ["owner"] });
    await people.join(first, "ada", ["owner"]);
    await accessClient(gateway.grpcPort).disableTenant({ tenantId: second });
    const { identity } = someone("ada");
    const { memberships } = await people.members.listMemberships({ identity });
    expect(memberships).toMatchObject([
      { tenantId: first, tenantDisabled: false, member: { identity, name: "ada", roles: ["owner"] } },
      { tenantId: second, tenantDisabled: true, member: { memberId: memberId("ada"), roles: ["admin", "writer"] } },
    ]);
    expect(memberships[0]!.tenantName).toMatch(/^Tenant \d+$/);
    const stranger = { issuer: "https://other.example", subject: "ada" };
    expect((await people.members.listMemberships({ identity: stranger })).memberships).toEqual([]);
  });

  test.each([
    ["no identity", undefined],
    ["an identity without a subject", { issuer: "https://id.example", subject: "" }],
    ["an identity with a line feed", { issuer: "https://id.example\nada", subject: "a" }],
    ["an identity with a subject of 256 characters", { issuer: "https://id.example", subject: "a".repeat(256) }],
  ])("for %s is INVALID_ARGUMENT", async (_name, identity) => {
    const call = people.members.listMemberships(identity ? { identity } : {});
    expect(await refusal(call)).toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("UpdateMemberRoles", () => {
  /** Makes a tenant in which bo has two roles, and gives bo two others. */
  async function updated() {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["chief", "writer"] });
    const bo = { tenantId, memberId: memberId("bo") };
    const { member } = await people.members.updateMemberRoles({ ...bo, roles: ["editor", "admin", "editor"] });
    return { tenantId, bo, member };
  }

  test("replaces all roles of the member", async () => {
    const { tenantId, member } = await updated();
    expect(member).toMatchObject({ name: "bo", roles: ["admin", "editor"] });
    expect(await people.roles(tenantId)).toEqual({ ada: ["owner"], bo: ["admin", "editor"] });
  });

  test("is not audited when the member has the same roles already", async () => {
    const { tenantId, bo } = await updated();
    await people.members.updateMemberRoles({ ...bo, roles: ["editor", "admin"] });
    const asked = { tenantId, actions: ["update_member_roles"] };
    const { entries } = await accessClient(gateway.grpcPort).listAuditEntries(asked);
    expect(entries).toHaveLength(1);
  });

  test.each([
    ["an empty list of roles", []],
    ["a role with a space", ["a b"]],
    ["a role with a letter outside ASCII", ["é"]],
    ["a role of 65 characters", ["a".repeat(65)]],
    ["a list of 17 roles", Array.from({ length: 17 }, (_, at) => `r${at}`)],
  ])("with %s is INVALID_ARGUMENT", async (_name, roles) => {
    const tenantId = await people.tenant({ ada: ["owner"] });
    const call = people.members.updateMemberRoles({ tenantId, memberId: memberId("ada"), roles });
    expect(await refusal(call)).toMatchObject({ code: Code.InvalidArgument });
  });

  test("of someone who is no member is NOT_FOUND", async () => {
    const tenantId = await people.tenant();
    const call = people.members.updateMemberRoles({ tenantId, memberId: memberId("ada"), roles: ["owner"] });
    expect(await refusal(call)).toMatchObject({ code: Code.NotFound });
  });
});

describe("RemoveMember", () => {
  test("that is repeated changes no member and is not audited again", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["writer"] });
    const bo = { tenantId, memberId: memberId("bo") };
    await people.members.removeMember(bo);
    await people.members.removeMember(bo);
    expect(await people.roles(tenantId)).toEqual({ ada: ["owner"] });
    const { entries } = await accessClient(gateway.grpcPort).listAuditEntries({ tenantId, actions: ["remove_member"] });
    expect(entries.map(({ subject }) => subject)).toEqual([bo.memberId]);
  });

  test("keeps the member id for a person who comes back", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["writer"] });
    await people.members.removeMember({ tenantId, memberId: memberId("bo") });
    expect(await people.join(tenantId, "bo", ["editor"])).toMatchObject({
      memberId: memberId("bo"),
      roles: ["editor"],
    });
  });

  test("leaves the person's name at the end of the list of names until the person comes back", async () => {
    const tenantId = await people.tenant({ zoe: ["owner"], bo: ["writer"] });
    const names = async (limit = 0) =>
      (await people.members.listMembers({ tenantId, namesOnly: true, limit })).members.map(({ name }) => name);
    await people.members.removeMember({ tenantId, memberId: memberId("bo") });
    expect(await names()).toEqual(["zoe", "bo"]);
    expect(await names(1)).toEqual(["zoe"]);
    expect((await people.members.listMembers({ tenantId })).members.map(({ name }) => name)).toEqual(["zoe"]);
    await people.join(tenantId, "bo", ["writer"]);
    expect(await names()).toEqual(["bo", "zoe"]);
  });
});

describe("the last owner", () => {
  test("can be neither removed nor demoted, by an operator or by that owner", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["admin"] });
    const ada = { tenantId, memberId: memberId("ada") };
    for (const members of [people.members, people.as("ada", "owner")]) {
      expect(await refusal(members.removeMember(ada))).toMatchObject({ code: Code.FailedPrecondition });
      const demoted = members.updateMemberRoles({ ...ada, roles: ["admin"] });
      expect(await refusal(demoted)).toMatchObject({ code: Code.FailedPrecondition });
    }
    await people.members.updateMemberRoles({ ...ada, roles: ["owner", "writer"] });
    expect(await people.roles(tenantId)).toEqual({ ada: ["owner", "writer"], bo: ["admin"] });
  });

  /** Each race of two changes is run four times. */
  const rounds = [1, 2, 3, 4];

  test.each(rounds)("stays when two owners demote each other at once (round %i)", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["owner"] });
    const demote = (actor: string, whom: string) =>
      people.as(actor, "owner").updateMemberRoles({ tenantId, memberId: memberId(whom), roles: ["writer"] });
    const outcomes = await Promise.allSettled([demote("ada", "bo"), demote("bo", "ada")]);
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as { code: Code }] : []));
    expect(refused).toMatchObject([{ code: Code.PermissionDenied }]);
    expect(
      Object.values(await people.roles(tenantId))
        .flat()
        .toSorted(),
    ).toEqual(["owner", "writer"]);
  });

  test.each(rounds)("stays when an operator removes both owners at once (round %i)", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["owner"] });
    const outcomes = await Promise.allSettled(
      ["ada", "bo"].map((subject) => people.members.removeMember({ tenantId, memberId: memberId(subject) })),
    );
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as { code: Code }] : []));
    expect(refused).toMatchObject([{ code: Code.FailedPrecondition }]);
    expect(Object.values(await people.roles(tenantId))).toEqual([["owner"]]);
  });
});

describe("roles", () => {
  test.each(["", "admin", "integrator", "editor", "Owner"])(
    "a caller in the role %j changes no member",
    async (role) => {
      const tenantId = await people.tenant({ ada: ["owner"], bo: ["writer"] });
      const client = memberClient(gateway.grpcPort, role);
      const bo = { tenantId, memberId: memberId("bo") };
      const calls = [client.updateMemberRoles({ ...bo, roles: ["chief"] }), client.removeMember(bo)];
      for (const { code } of await Promise.all(calls.map(refusal))) expect(code).toBe(Code.PermissionDenied);
      expect(await people.roles(tenantId)).toEqual({ ada: ["owner"], bo: ["writer"] });
    },
  );

  test.each(["", "integrator", "editor"])(
    "a caller in the role %j can neither list members nor list, make or revoke invitations",
    async (role) => {
      const tenantId = await people.tenant();
      const client = memberClient(gateway.grpcPort, role);
      const { invitation } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
      const calls = [
        client.listMembers({ tenantId }),
        client.listInvitations({ tenantId }),
        client.inviteMember({ tenantId, roles: ["writer"] }),
        client.revokeInvitation({ tenantId, invitationId: invitation!.invitationId }),
      ];
      for (const { code } of await Promise.all(calls.map(refusal))) expect(code).toBe(Code.PermissionDenied);
    },
  );

  test("a person cannot act with a role that the person does not have in the tenant", async () => {
    const tenantId = await people.tenant({ ada: ["owner"], bo: ["admin"] });
    const elsewhere = await people.tenant({ bo: ["owner"] });
    const asOwner = people.as("bo", "owner");
    await asOwner.listMembers({ tenantId: elsewhere });
    await people.as("bo", "admin").listMembers({ tenantId });
    const { invitation } = await people.members.inviteMember({ tenantId, roles: ["writer"] });
    const calls = [
      asOwner.listMembers({ tenantId }),
      asOwner.listInvitations({ tenantId }),
      asOwner.inviteMember({ tenantId, roles: ["writer"] }),
      asOwner.revokeInvitation({ tenantId, invitationId: invitation!.invitationId }),
      asOwner.updateMemberRoles({ tenantId, memberId: memberId("bo"), roles: ["owner"] }),
      asOwner.removeMember({ tenantId, memberId: memberId("ada") }),
    ];
    for (const { code } of await Promise.all(calls.map(refusal))) expect(code).toBe(Code.PermissionDenied);
    expect(await people.roles(tenantId)).toEqual({ ada: ["owner"], bo: ["admin"] });
  });
});
