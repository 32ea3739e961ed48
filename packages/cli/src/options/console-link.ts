import type { Settings } from "../settings/settings.ts";

/**
 * Returns a function that makes links to a page of the console. A link has the code of an
 * invitation or a sign-in in its fragment, which browsers send to no server, so no log has it. The
 * links are null when the console's address is unknown.
 *
 * @throws CliError when the address is malformed: call this before making a code
 */
export function consoleLinks(settings: Pick<Settings, "find">, path: string): (code: string) => string | null {
  const origin = settings.find("console-url");
  return (code) => (origin === undefined ? null : `${origin}${path}#code=${code}`);
}
