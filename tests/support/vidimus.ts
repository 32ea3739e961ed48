import { runCli } from "@vidimus/cli/run-cli";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** How a command ended, and all that it wrote. */
interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command runs. */
interface CommandPlace {
  /** Working folder and home: its dev.json and profiles are found. */
  readonly cwd: string;
  readonly stdin?: string;
  /** Called for every pause between attempts; by default it takes its time. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Runs a command line of `npx vidimus` in this process, as the user kari without environment. */
export async function vidimus(argv: readonly string[], { cwd, stdin = "", sleep }: CommandPlace): Promise<CommandEnd> {
  // Nothing is read before the end, so that a smaller buffer would hold a large export up.
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1e9 }), new PassThrough({ highWaterMark: 1e9 })];
  const code = await runCli(argv, {
    env: {},
    cwd,
    home: cwd,
    user: "kari",
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr,
    sleep: sleep ?? ((ms) => pause(ms)),
  });
  const text = (stream: PassThrough) => (stream.read() as Buffer | null)?.toString() ?? "";
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
