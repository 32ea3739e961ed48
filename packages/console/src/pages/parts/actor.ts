import type { CallOptions } from "@connectrpc/connect";
import { isPersonActor } from "@vidimus/kit/rpc/context/person";
import type { TenantCall } from "../../http/route.ts";
import type { MemberCalls } from "../../rpc/called-methods.ts";
import { roleFor } from "../../domain/rights.ts";
import { type Html, html } from "../../markup/html.ts";

/** From the actor of a person or an API key to the person's or the key's name. */
export type ActorNames = ReadonlyMap<string, string>;

/** The most names that access returns in one answer. */
const namesMax = 5_000;

/**
 * The names of the reader and of a tenant's first 5,000 members. Names of people who were removed
 * follow, up to 5,000 in all. Other people are shown by their actor.
 */
export async function actorNames(
  members: Pick<MemberCalls, "listMembers">,
  { tenant: { tenantId }, person }: TenantCall,
  rpc: CallOptions,
): Promise<ActorNames> {
  const { members: found } = await members.listMembers({ tenantId, limit: namesMax, namesOnly: true }, rpc);
  const own: [string, string] = [person.memberId, person.session.name];
  return new Map([own, ...found.map(({ memberId, name }): [string, string] => [memberId, name])]);
}

/**
 * The names of a tenant's members, for readers who may list members; empty for other readers, such
 * as integrators, who see actors instead of names.
 */
export async function visibleNames(members: Pick<MemberCalls, "listMembers">, call: TenantCall): Promise<ActorNames> {
  return roleFor("members", [call.role]) === undefined ? new Map() : actorNames(members, call, call.rpc);
}

/**
 * Shows an actor: a person or an API key by name, or by the beginning of its id when the name is
 * not known; another program by its actor.
 */
export function actorName(names: ActorNames, actor: string): Html {
  const name = names.get(actor);
  if (name !== undefined) return html`<span class="actor" dir="auto" title="${actor}">${name}</span>`;
  if (isPersonActor(actor)) return html`<code class="q" title="${actor}">${actor.slice(0, 15)}…</code>`;
  const [, prefix] = /^key:(\w+)$/.exec(actor) ?? [];
  if (prefix !== undefined) return html`<span class="actor">API key <code>vk_${prefix}_…</code></span>`;
  return html`<span class="actor" dir="auto">${actor === "" ? "nobody named" : actor}</span>`;
}
