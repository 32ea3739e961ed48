/** Fails when packages/contracts/gen differs from the output of `buf generate`. */
import { spawnSync } from "node:child_process";

const run = (command: string, ...args: string[]) => spawnSync(command, args, { encoding: "utf8" });

const generated = run("buf", "generate");
if (generated.status !== 0) {
  console.error(generated.stderr);
  process.exitCode = 1;
} else {
  const drift = run("git", "status", "--porcelain", "--", "packages/contracts/gen").stdout.trim();
  if (drift !== "") {
    console.error(`packages/contracts/gen differs from proto/; run \`npm run generate\` and commit:\n${drift}`);
    process.exitCode = 1;
  }
}
