/** The scopes of a list separated by commas. Which scopes there are, the platform knows. */
export function readScopeList(text: string): string[] {
  return text
    .split(",")
    .map((scope) => scope.trim())
    .filter((scope) => scope !== "");
}
