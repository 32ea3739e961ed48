import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";

/** Who reads the pages of the console: an owner of the first tenant, once signed in. */
export const reader = { issuer: linkIssuer, subject: "operator" };

/** Options of calls that the console makes for the reader: without a role, and as owner. */
export const asReader = { headers: { "vidimus-actor": personActor(reader) } };
export const asOwner = { headers: { ...asReader.headers, "vidimus-role": "owner" } };

/** Signs the reader in to the console of a stack. Returns the session's `cookie` header. */
export async function signedIn(dev: DevJson): Promise<string> {
  const link = new URL((await makeConsoleLink(dev)) ?? "");
  const code = link.hash.replace("#code=", "");
  return cookieAfter(new URL("/sign-in/confirm", link), { code, return: "/" });
}

/** Opens an invitation. Returns the `cookie` header with which the console shows it. */
export function openedInvitation(dev: DevJson, code: string): Promise<string> {
  return cookieAfter(new URL("/invitation", dev.console), { code });
}

async function cookieAfter(url: URL, form: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams(form);
  const headers = { origin: url.origin };
  const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual" });
  const [cookie = ""] = answer.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  if (cookie === "") throw new Error(`${url.pathname} sets no cookie: ${answer.status}`);
  return cookie;
}
