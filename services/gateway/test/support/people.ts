import { ConnectError } from "@connectrpc/connect";
import { personActor } from "@vidimus/kit/rpc/context/person";
import { accessClient, memberClient } from "./start-gateway.ts";

export function someone(subject: string) {
  const identity = { issuer: "https://id.example", subject };
  return { identity, name: subject, actor: personActor(identity) };
}

/** Makes tenants, members and their clients. @param port of the gateway's teams door */
export function peopleOf(port: number) {
  const members = memberClient(port);
  let tenants = 0;
  return {
    members,
    as: (subject: string, role: string) => memberClient(port, role, someone(subject).actor),
    /** Makes a tenant; `people` has the roles of its members by subject. Returns its id. */
    async tenant(people: Readonly<Record<string, readonly string[]>> = {}): Promise<string> {
      const tenantId = `tenant_${(tenants += 1)}`;
      await accessClient(port).createTenant({ tenantId, name: `Tenant ${tenants}` });
      for (const [subject, roles] of Object.entries(people)) await this.join(tenantId, subject, roles);
      return tenantId;
    },
    async join(tenantId: string, subject: string, roles: readonly string[]) {
      const { code } = await members.inviteMember({ tenantId, roles: [...roles] });
      const { member } = await members.acceptInvitation({ code, ...someone(subject) });
      if (!member) throw new Error("an accepted invitation made no member");
      return member;
    },
    /** From the subject of each member of a tenant to the member's roles. */
    async roles(tenantId: string): Promise<Record<string, string[]>> {
      const { members: listed } = await members.listMembers({ tenantId });
      return Object.fromEntries(listed.map(({ name, roles }) => [name, roles]));
    },
  };
}

/** Why a call was refused; throws when it was not. */
export async function refusal(call: Promise<unknown>): Promise<ConnectError> {
  const answer = await call.catch((error: unknown) => ConnectError.from(error));
  if (answer instanceof ConnectError) return answer;
  throw new Error("the call succeeded");
}
