/** All scopes, each with what it allows. No scope implies another. */
export const scopeDescriptions = {
  "documents:create": "Push documents in; every one begins as a draft.",
  "publisher:read": "Read published documents, sites, their versions and changes.",
  "phrases:read": "Read the dictionary.",
  "phrases:write": "Add, replace, import and delete phrases of the dictionary.",
  "webhooks:read": "Read webhook endpoints and what became of their deliveries.",
  "webhooks:write": "Create, change and delete webhook endpoints, and send deliveries again.",
} as const;

export type Scope = keyof typeof scopeDescriptions;

export const scopes = Object.keys(scopeDescriptions) as Scope[];

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopeDescriptions, text);
}
