/** Actor of calls for people who are not signed in yet. */
export const consoleActor = "console";
const codePattern = /^[\w-]{43}$/;

/**
 * Reads the code of a sign-in link or an invitation as people paste it, alone or in its link;
 * undefined for anything else.
 */
export function readCode(text: string | null): string | undefined {
  const code = (text ?? "").trim().replace(/^.*#code=/, "");
  return codePattern.test(code) ? code : undefined;
}
