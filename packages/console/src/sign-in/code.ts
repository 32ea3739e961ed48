/** Actor of calls for somebody who has not signed in yet. */
export const consoleActor = "console";
const codePattern = /^[\w-]{43}$/;

/** Reads a one-time code as a person may have pasted it; undefined for what cannot be one. */
export function readCode(text: string | null): string | undefined {
  const code = (text ?? "").trim().replace(/^.*#code=/, "");
  return codePattern.test(code) ? code : undefined;
}
