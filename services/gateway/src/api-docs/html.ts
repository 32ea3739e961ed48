const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as HTML, also fit for an attribute in double quotes. */
export function text(raw: string): string {
  return raw.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

export function exampleText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
