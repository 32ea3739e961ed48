/** Reads names separated by commas. Does not check them; the service refuses unknown ones. */
export function readNameList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
