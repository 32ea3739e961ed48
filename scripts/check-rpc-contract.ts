/**
 * Compares proto/ with the published RPC contract, proto/contract.binpb, a buf image. Without
 * arguments it fails on a breaking change, and when CHANGELOG.md does not name the image.
 *
 * `npm run renew-contract` replaces the image by the current proto/, and prints the line that
 * CHANGELOG.md then needs. Use it only to publish a revision: a breaking change that is in the
 * image is not found any more.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const image = "proto/contract.binpb";

if (process.argv.includes("--renew")) {
  run("build", "--exclude-source-info", "--output", image);
  console.log(`Add to CHANGELOG.md, with what changed for callers:\n\n${changelogLine()}`);
} else {
  if (!run("breaking", "--against", image)) {
    console.error(
      `proto/ breaks the published contract; if this is intended, run npm run renew-contract and describe it in CHANGELOG.md`,
    );
  }
  const changelog = readFileSync("CHANGELOG.md", "utf8").replace(/\s+/g, " ");
  if (!changelog.includes(changelogLine())) {
    console.error(`CHANGELOG.md does not name the RPC contract in ${image}; it needs the line:\n${changelogLine()}`);
    process.exitCode = 1;
  }
}

/** Identifies the image by the first 12 digits of its SHA-256. */
function changelogLine(): string {
  const digest = createHash("sha256").update(readFileSync(image)).digest("hex");
  return `RPC contract \`${digest.slice(0, 12)}\``;
}

function run(...args: string[]): boolean {
  const { status } = spawnSync("buf", args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  return status === 0;
}
