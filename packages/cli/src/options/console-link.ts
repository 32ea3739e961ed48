import type { Settings } from "../settings/settings.ts";

/**
 * Returns a function that makes links to a page of the console with a code in the fragment, which
 * reaches no server and no log; null when no source says where the console is.
 *
 * @throws CliError when the origin has the wrong form: call it before a code is made
 */
export function consoleLinks(settings: Pick<Settings, "find">, path: string): (code: string) => string | null {
  const origin = settings.find("console-url");
  return (code) => (origin === undefined ? null : `${origin}${path}#code=${code}`);
}
