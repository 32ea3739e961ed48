import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const time = timestampFromDate(new Date("2026-01-05T10:00:00Z"));
const memberId = "person:0123456789abcdef0123456789abcdef";
const code = "c".repeat(43);
const member = {
  memberId,
  tenantId: "demo",
  name: "Ada",
  address: "ada@example.org",
  roles: ["owner"],
  createdAt: time,
};
const invitation = { invitationId: "i1", roles: ["writer"], note: "Bo", invitedBy: "cli:kari", expiresAt: time };
let services: Awaited<ReturnType<typeof openTestServices>>;
/** The changes that commands requested of the service. */
const changes: unknown[] = [];

beforeAll(async () => {
  services = await openTestServices(
    route(MemberService, {
      listMembers: ({ pageToken }) =>
        pageToken === ""
          ? { members: [member], nextPageToken: "more" }
          : { members: [{ ...member, name: "Bo", roles: ["admin", "writer"] }] },
      getMember: ({ memberId: id }) => ({ member: { ...member, memberId: id } }),
      inviteMember({ tenantId, roles, note }, context) {
        changes.push({ tenantId, roles, note, role: callContext(context).role });
        return { invitation: { ...invitation, roles, note }, code };
      },
      listInvitations: () => ({ invitations: [invitation] }),
      revokeInvitation({ tenantId, invitationId }) {
        changes.push({ tenantId, invitationId });
        return {};
      },
      updateMemberRoles({ tenantId, memberId: id, roles }) {
        changes.push({ tenantId, id, roles });
        return { member: { ...member, roles } };
      },
      removeMember({ tenantId, memberId: id }) {
        changes.push({ tenantId, id });
        return {};
      },
      createSignInLink({ tenantId, subject, roles }) {
        changes.push({ tenantId, subject, roles });
        return { code, expiresAt: time };
      },
    }),
  );
});
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(() => void changes.splice(0));

const cli = (...argv: string[]) => run([...argv, "--tenant", "demo", "--access", services.target]);
const there = ["--console-url", "https://console.example"];

test("members show prints one member", async () => {
  expect((await cli("members", "show", memberId)).stdout).toMatch(/^name +Ada$/m);
  expect(JSON.parse((await cli("members", "show", memberId, "--json")).stdout)).toMatchObject({ id: memberId });
});

test("members list shows the members of the first and of the second page", async () => {
  const { stdout } = await cli("members", "list");
  expect(stdout.split("\n").slice(1, 3)).toEqual([
    expect.stringMatching(/Ada +ada@example\.org +owner/),
    expect.stringMatching(/Bo +ada@example\.org +admin,writer/),
  ]);
});

const invite = ["members", "invite", "--roles", "writer,editor", "--note", "Bo", "--role", "owner"];

test("members invite sends the roles, the note and the caller's role of --role", async () => {
  await cli(...invite);
  expect(changes).toEqual([{ tenantId: "demo", roles: ["writer", "editor"], note: "Bo", role: "owner" }]);
});

test("members invite prints a link, or the invitation's code when the console's address is unknown", async () => {
  const { stdout } = await cli(...invite, ...there);
  expect(stdout).toContain(`\n\nhttps://console.example/invitation#code=${code}\n`);
  expect((await cli(...invite)).stdout).toMatch(new RegExp(`\n\n${code}\n$`));
  expect(JSON.parse((await cli(...invite, "--json")).stdout)).toMatchObject({ id: "i1", code, link: null });
});

test("members invitations prints an invitation's id, roles, note, expiry and inviter", async () => {
  expect((await cli("members", "invitations")).stdout).toMatch(/i1 +writer +Bo +2026-01-05T10:00:00\.000Z +cli:kari/);
});

test("members revoke-invitation revokes the invitation with the given id", async () => {
  await cli("members", "revoke-invitation", "i1");
  expect(changes).toEqual([{ tenantId: "demo", invitationId: "i1" }]);
});

test("members set-roles gives the member with the given id the roles of --roles", async () => {
  const { stdout } = await cli("members", "set-roles", memberId, "--roles", "admin,writer");
  expect(stdout).toBe(`${memberId} is admin, writer of tenant demo\n`);
  expect(changes).toEqual([{ tenantId: "demo", id: memberId, roles: ["admin", "writer"] }]);
});

test("members remove takes the member with the given id out of the tenant", async () => {
  await cli("members", "remove", memberId);
  expect(changes).toEqual([{ tenantId: "demo", id: memberId }]);
});

test("console sign-in prints only a link", async () => {
  expect((await cli("console", "sign-in", ...there)).stdout).toBe(`https://console.example/sign-in#code=${code}\n`);
});

test("console sign-in signs in as operator unless --as names somebody", async () => {
  await cli("console", "sign-in", ...there);
  await cli("console", "sign-in", "--as", "eve", "--roles", "writer");
  expect(changes).toEqual([
    { tenantId: "demo", subject: "operator", roles: [] },
    { tenantId: "demo", subject: "eve", roles: ["writer"] },
  ]);
});

test("a console URL with a path is refused, and no code is made", async () => {
  const { code: exit, stderr } = await cli("console", "sign-in", "--console-url", "https://console.example/x");
  expect([exit, stderr]).toEqual([1, expect.stringContaining("--console-url (VIDIMUS_CONSOLE_URL) must be an origin")]);
  expect(changes).toEqual([]);
});
