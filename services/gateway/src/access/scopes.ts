/**
 * All scopes, a closed set. A key has only the scopes that were granted to it; no scope implies
 * another.
 */
export const scopes = [
  "documents:create",
  "publisher:read",
  "phrases:read",
  "phrases:write",
  "webhooks:read",
  "webhooks:write",
] as const;

/** A permission of an API key. */
export type Scope = (typeof scopes)[number];

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}
