import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Where a fault's text is found in a source; `before` and `after` are the rest of the file. */
interface FaultPassage {
  readonly file: string;
  readonly before: string;
  readonly found: string;
  readonly after: string;
}

/**
 * Looks for a fault's `search` in the sources below `dir`.
 *
 * @param files all files of the tree, relative to `dir`
 */
export function passagesOf(search: string, dir: string, files: readonly string[]): FaultPassage[] {
  const pattern = new RegExp(search.trim().split(/\s+/).map(RegExp.escape).join("\\s+"), "g");
  return files.filter(isSource).flatMap((file) => {
    const text = readFileSync(join(dir, file), "utf8");
    return Array.from(text.matchAll(pattern), ({ index, 0: found }) => {
      return { file, before: text.slice(0, index), found, after: text.slice(index + found.length) };
    });
  });
}

/** The test files that a fault names as `unit NAME` or `integration NAME`, in any folder. */
export function testFilesOf(test: string, files: readonly string[]): string[] {
  const [project, name] = test.split(" ");
  const folder = project === "unit" ? "/src/" : "/test/";
  return files.filter((file) => basename(file) === `${name}.test.ts` && file.includes(folder));
}

function isSource(file: string): boolean {
  return /^(?:packages|services)\/[^/]+\/src\/.*\.ts$/.test(file) && !file.endsWith(".test.ts");
}
