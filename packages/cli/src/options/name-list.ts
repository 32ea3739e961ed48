/** Reads names separated by commas, without checking them. */
export function readNameList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
