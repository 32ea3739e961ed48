/**
 * The first match counts, here and in `systems`, because a header names more than its browser: that
 * of Edge also Chrome and Safari, that of Android also Linux, that of an iPhone also Mac OS X.
 */
const browsers = [
  ["Edge", /\bEdg\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\bFirefox\//],
  ["Chrome", /\b(?:Headless)?Chrom(?:e|ium)\//],
  ["Safari", /\bSafari\//],
] as const;

const systems = [
  ["Android", /\bAndroid\b/],
  ["iOS", /\b(?:iPhone|iPad)\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** `Chrome on macOS`, from the header `User-Agent`, which anybody can forge. */
export function browserName(userAgent: string): string {
  const name = (known: readonly (readonly [string, RegExp])[]) => known.find(([, mark]) => mark.test(userAgent))?.[0];
  const [browser, system] = [name(browsers), name(systems)];
  if (!browser) return "another program";
  return system ? `${browser} on ${system}` : browser;
}
