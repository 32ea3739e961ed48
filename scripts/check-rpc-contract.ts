/**
 * Compares proto/ with the published RPC contract, proto/contract.binpb, a buf image. Without
 * arguments it fails on any change but of comments and layout that is not in the image, and when
 * CHANGELOG.md does not name the image.
 *
 * `npm run renew-contract` replaces the image by the current proto/, and prints the line that
 * CHANGELOG.md then needs. It first reports what the change breaks, because afterwards that can no
 * longer be found out.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const image = "proto/contract.binpb";

if (process.argv.includes("--renew")) {
  if (!buf("breaking", "--against", image)) console.error("this breaks callers: describe it in CHANGELOG.md");
  if (build(image))
    console.log(
      `In CHANGELOG.md, replace the line "RPC contract …", and say what changed for callers:\n\n${changelogLine()}`,
    );
  else process.exitCode = 1;
} else {
  const faults = [...contractFaults(), ...changelogFaults()];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

function contractFaults(): string[] {
  if (!buf("breaking", "--against", image)) {
    return ["proto/ breaks the published contract; if this is intended, run `npm run renew-contract`"];
  }
  const folder = mkdtempSync(join(tmpdir(), "vidimus-contract-"));
  try {
    const fresh = join(folder, "contract.binpb");
    const isPublished = build(fresh) && readFileSync(fresh).equals(readFileSync(image));
    return isPublished ? [] : [`${image} is not what proto/ gives; run \`npm run renew-contract\``];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function changelogFaults(): string[] {
  const named = readFileSync("CHANGELOG.md", "utf8").match(/RPC\s+contract\s+`[0-9a-f]{12}`/g) ?? [];
  const isNamed = named.some((line) => line.replaceAll(/\s+/g, " ") === changelogLine());
  if (isNamed && named.length === 1) return [];
  return [`CHANGELOG.md must name the RPC contract in ${image}, and no other, by the line:\n${changelogLine()}`];
}

/** The words by which CHANGELOG.md names the image: the first 12 digits of its SHA-256. */
function changelogLine(): string {
  const digest = createHash("sha256").update(readFileSync(image)).digest("hex");
  return `RPC contract \`${digest.slice(0, 12)}\``;
}

function build(output: string): boolean {
  return buf("build", "--exclude-source-info", "--output", output);
}

function buf(...args: string[]): boolean {
  return spawnSync("buf", args, { stdio: "inherit" }).status === 0;
}
