import { runCli } from "@vidimus/cli/run-cli";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  /** Working folder and home, in which the command finds dev.json and its profiles. */
  readonly cwd: string;
  readonly stdin?: string;
  /** Resolves when the user presses Ctrl-C. */
  readonly interrupted?: Promise<void>;
  /** Replaces the pauses between attempts; by default the command really waits. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Runs a command line of `npx vidimus` in this process, as the user kari without environment. */
export async function vidimus(argv: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  const { cwd, stdin = "", sleep, interrupted } = options;
  // The test reads only after the end, so a smaller buffer would block a large export.
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
    ...(interrupted ? { interrupted: () => interrupted } : {}),
  });
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) };
}

/** Everything that was written to a stream. One read returns one write. */
function textOf(stream: PassThrough): string {
  const chunks: Buffer[] = [];
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
