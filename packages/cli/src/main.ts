import { enableCompileCache } from "node:module";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// Keeps compiled code in a folder of the user, which saves a third of the CPU of a command that
// calls a service. Does nothing when the folder cannot be written.
enableCompileCache(join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "vidimus"));
// Imported dynamically, because only modules that are loaded after the call above are kept.
const { runCli } = await import("./run-cli.ts");

// `vidimus … | head` closes the pipe early; without this listener Node prints a stack trace.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  home: homedir(),
  user: loginName(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  sleep: (ms) => sleep(ms),
  interrupted,
});

/** Resolves at the first signal. A second signal ends the process as usual. */
function interrupted(): Promise<void> {
  const signals = ["SIGINT", "SIGTERM"] as const;
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) process.off(signal, stop);
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}

/** `userInfo` throws for a user without a name, as containers often have. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
