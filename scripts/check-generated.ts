/** Fails when packages/contracts/gen differs from a fresh generation from proto/. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const committed = "packages/contracts/gen";
const fresh = mkdtempSync(join(tmpdir(), "vidimus-generated-"));
try {
  // buf writes to the path that buf.gen.yaml names, below the output folder.
  const generated = spawnSync("buf", ["generate", "--output", fresh], { encoding: "utf8" });
  if (generated.status === 0) report(differences(join(fresh, committed)));
  else report([generated.stderr.trim()]);
} finally {
  rmSync(fresh, { recursive: true });
}

function differences(folder: string): string[] {
  const [wanted, found] = [filesOf(folder), filesOf(committed)];
  const names = [...new Set([...wanted.keys(), ...found.keys()])].toSorted();
  return names.filter((name) => wanted.get(name) !== found.get(name)).map((name) => `${committed}/${name}`);
}

/** The texts of a folder's files, by their paths in it. */
function filesOf(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map(({ name, parentPath }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")];
    }),
  );
}

function report(faults: readonly string[]): void {
  if (faults.length === 0) return;
  console.error(`not what proto/ gives; run \`npm run generate\` and commit:\n${faults.join("\n")}`);
  process.exitCode = 1;
}
