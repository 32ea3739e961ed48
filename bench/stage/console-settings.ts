import type { AccessCalls, MemberCalls } from "@vidimus/console/rpc/called-methods";
import { asOwner } from "./signed-in.ts";

const [memberCount, invitationCount, keyCount, changesOfKey] = [20, 5, 10, 20];

interface ShownPeople {
  readonly member: string;
  readonly invitation: string;
  readonly code: string;
}

/** Makes members and open invitations. Returns one of each by id, and the invitation's code. */
export async function fillMembers(members: MemberCalls, tenantId: string): Promise<ShownPeople> {
  let member = "";
  for (let count = 1; count <= memberCount; count += 1) {
    const { code } = await members.inviteMember({ tenantId, roles: ["editor"], note: `Editor ${count}` }, asOwner);
    const identity = { issuer: "https://login.example.org", subject: `editor-${count}` };
    const who = { identity, name: `Editor ${count}`, address: `editor-${count}@example.org` };
    member = (await members.acceptInvitation({ code, ...who }, asOwner)).member?.memberId ?? "";
  }
  let shown = { invitation: "", code: "" };
  for (let count = 1; count <= invitationCount; count += 1) {
    const request = { tenantId, roles: ["editor"], note: `Trainee ${count}` };
    const { invitation, code } = await members.inviteMember(request, asOwner);
    shown = { invitation: invitation?.invitationId ?? "", code };
  }
  return { member, ...shown };
}

/** Makes keys and changes each of them often, for the audit log. Returns the id of one of them. */
export async function fillKeys(access: AccessCalls, tenantId: string): Promise<string> {
  let keyId = "";
  for (let count = 1; count <= keyCount; count += 1) {
    const scopes = ["publisher:read", "phrases:read"];
    const { apiKey } = await access.createApiKey({ tenantId, name: `Program ${count}`, scopes }, asOwner);
    keyId = apiKey?.keyId ?? "";
    for (let change = 1; change <= changesOfKey; change += 1) {
      await access.updateApiKeyScopes({ tenantId, keyId, scopes: scopes.slice(change % 2) }, asOwner);
    }
  }
  return keyId;
}
