import { pathOf } from "../request-target.ts";

const charsMax = 200;

/**
 * Runs of characters longer than any word or identifier. The secret part of an API key has 49 of
 * these characters.
 */
const secrets = /[0-9A-Za-z]{40,}/g;

/**
 * A request target for a log: without its query, shortened, printable, and without what may be a
 * secret.
 */
export function loggedPath(target: string): string {
  const path = pathOf(target).replace(/[^\x21-\x7e]/g, "?");
  const safe = path.replace(secrets, "…");
  return safe.length > charsMax ? `${safe.slice(0, charsMax)}…` : safe;
}
