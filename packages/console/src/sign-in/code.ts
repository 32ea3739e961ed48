/** Actor of calls for people who are not signed in yet. */
export const consoleActor = "console";
const codePattern = /^[\w-]{43}$/;

/** Reads a one-time code as people paste it; undefined for anything else. */
export function readCode(text: string | null): string | undefined {
  const code = (text ?? "").trim().replace(/^.*#code=/, "");
  return codePattern.test(code) ? code : undefined;
}
