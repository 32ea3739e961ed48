/** Everything a key can be allowed, a closed set: a key has a scope only where somebody granted that very scope. */
export const scopes = [
  "documents:create",
  "publisher:read",
  "phrases:read",
  "phrases:write",
  "webhooks:read",
  "webhooks:write",
] as const;

/** One thing a key can be allowed. */
export type Scope = (typeof scopes)[number];

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}
