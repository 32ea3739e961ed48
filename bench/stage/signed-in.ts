import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import type { DevJson } from "@vidimus/devstack/stack/dev-json";

/** Signs in to the console of a stack as `operator`. Returns the session's `cookie` header. */
export async function signedIn(dev: DevJson): Promise<string> {
  const link = new URL((await makeConsoleLink(dev)) ?? "");
  const code = link.hash.replace("#code=", "");
  const body = new URLSearchParams({ code, return: "/" });
  const headers = { origin: link.origin };
  const answer = await fetch(new URL("/sign-in/confirm", link), { method: "POST", headers, body, redirect: "manual" });
  const [cookie = ""] = answer.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  if (cookie === "") throw new Error(`the console does not sign in: ${answer.status}`);
  return cookie;
}
