/** Reads scopes separated by commas. Unknown ones pass: the access service refuses them. */
export function readScopeList(text: string): string[] {
  return text
    .split(",")
    .map((scope) => scope.trim())
    .filter((scope) => scope !== "");
}
