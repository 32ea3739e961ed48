import { projectDir } from "@vidimus/devstack/paths";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, vi } from "vitest";

/** Runs an npm script of the checkout in a process group of its own, as a terminal does. */
export function runNpmScript(script: "start" | "stop", args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn("npm", ["--silent", script, "--", ...args], { cwd: projectDir, env, detached: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  return {
    child,
    /** Everything that the script has printed, once the script has ended. */
    ended: once(child, "close").then(() => said),
    /** Waits until the script prints `words`, and returns all that it has printed. */
    says: (words: string) =>
      vi.waitFor(
        () => {
          expect(said).toContain(words);
          return said;
        },
        { timeout: 60_000, interval: 20 },
      ),
  };
}
