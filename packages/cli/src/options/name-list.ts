/** Reads names separated by commas. Unknown ones pass: the service refuses them. */
export function readNameList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
