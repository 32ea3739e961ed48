import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { openDevClient } from "./dev-client.ts";
import type { DevJson } from "./dev-json.ts";

const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "dev-stack" } };

/**
 * Makes a link that signs in to the console of a dev stack once, within ten minutes, as `operator`,
 * by default an owner of the first tenant. Undefined in a stack without console.
 */
export async function makeConsoleLink(dev: DevJson): Promise<string | undefined> {
  const tenantId = dev.tenants[0]?.id;
  if (dev.console === undefined || tenantId === undefined) return undefined;
  using members = openDevClient(dev, "access", MemberService);
  const { code } = await members.createSignInLink({ subject: "operator", tenantId }, asOwner);
  return `${dev.console}/sign-in#code=${code}`;
}
