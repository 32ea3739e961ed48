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
  /** Resolves when the user presses Ctrl-C. */
  readonly interrupted?: Promise<void>;
  /** Called for every pause between attempts; by default it takes its time. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Runs a command line of `npx vidimus` in this process, as the user kari without environment. */
export async function vidimus(argv: readonly string[], place: CommandPlace): Promise<CommandEnd> {
  const { cwd, stdin = "", sleep, interrupted } = place;
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
    ...(interrupted ? { interrupted: () => interrupted } : {}),
  });
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) };
}

/** One read gives what one write has written. */
function textOf(stream: PassThrough): string {
  const chunks: Buffer[] = [];
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
