/** Runs all static checks and prints the time of each. Fails when a check failed. */
import { spawnSync } from "node:child_process";

const steps: ReadonlyArray<readonly [string, ...string[]]> = [
  ["tsc", "--noEmit"],
  ["oxlint", "--type-aware", "--max-warnings", "0"],
  ["oxfmt", "--check", "."],
  ["buf", "lint"],
  ["buf", "format", "--exit-code", "--diff"],
  ["node", "scripts/check-rpc-contract.ts"],
  ["node", "scripts/check-generated.ts"],
  ["node", "scripts/check-docs.ts"],
  ["node", "scripts/complete-lockfile.ts", "--check"],
  ["node", "scripts/generate-openapi.ts", "--check"],
];

const failed = steps.filter(([command, ...args]) => {
  const started = performance.now();
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${seconds.padStart(6)} s  ${[command, ...args].join(" ")}`);
  return status !== 0;
});

if (failed.length > 0) {
  console.error(`${failed.length} of ${steps.length} checks failed`);
  process.exitCode = 1;
}
