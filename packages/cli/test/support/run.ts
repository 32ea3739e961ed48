import { PassThrough, Readable } from "node:stream";
import { runCli } from "../../src/run-cli.ts";

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Pauses that the command requested, in ms; none was slept. */
  readonly pausesMs: readonly number[];
}

/** Runs a command line in this process, in a world of its own. */
export async function run(
  argv: readonly string[],
  world: {
    env?: Record<string, string>;
    cwd?: string;
    stdin?: string;
    isTTY?: boolean;
    interrupted?: Promise<void>;
  } = {},
): Promise<Run> {
  const stdout = new PassThrough();
  const stderr = Object.assign(new PassThrough(), { isTTY: world.isTTY ?? false });
  const pausesMs: number[] = [];
  const code = await runCli(argv, {
    env: world.env ?? {},
    cwd: world.cwd ?? "/",
    home: "/nonexistent",
    user: "kari",
    stdin: Readable.from([Buffer.from(world.stdin ?? "")]),
    stdout,
    stderr,
    sleep: async (ms) => void pausesMs.push(ms),
    interrupted: () => world.interrupted ?? new Promise(() => {}),
  });
  return { code, stdout: drain(stdout), stderr: drain(stderr), pausesMs };
}

function drain(stream: PassThrough): string {
  const chunks: Buffer[] = [];
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
