/**
 * `npm run check`: runs the checks below at the same time, and prints the duration and the output
 * of each. The linter also checks types, because `tsc` would take the same time once more.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

const steps: ReadonlyArray<readonly [string, ...string[]]> = [
  ["oxlint", "--type-aware", "--type-check", "--max-warnings", "0"],
  ["oxfmt", "--check", "."],
  ["buf", "lint"],
  ["buf", "format", "--exit-code", "--diff"],
  ["node", "scripts/check-rpc-contract.ts"],
  ["node", "scripts/check-generated.ts"],
  ["node", "scripts/check-methods.ts"],
  ["node", "scripts/check-exports.ts"],
  ["node", "scripts/check-tests.ts"],
  ["node", "scripts/check-docs.ts"],
  ["node", "scripts/check-words.ts"],
  ["node", "scripts/complete-lockfile.ts", "--check"],
  ["node", "scripts/generate-openapi.ts", "--check"],
];

/**
 * The linter's type checker is a Go program that spends a third of its CPU on collecting garbage.
 * It ends after about 20 s on two idle cores, so it collects only when it holds 4 GiB.
 */
const env = { GOGC: "off", GOMEMLIMIT: "4GiB", ...process.env };

const passed = await Promise.all(steps.map(run));
const failed = passed.filter((isPassed) => !isPassed).length;

if (failed > 0) {
  console.error(`${failed} of ${steps.length} checks failed`);
  process.exitCode = 1;
}

async function run([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  const started = performance.now();
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (data: Buffer) => said.push(data));
  const [status] = (await once(child, "close")) as [number | null];
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(Buffer.concat(said));
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${seconds.padStart(6)} s  ${[command, ...args].join(" ")}`);
  return status === 0;
}
