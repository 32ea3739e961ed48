import { readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, type ChildExit, startChild } from "../child.ts";
import { DevstackError, PortTakenError } from "../errors.ts";
import { pickFreePort } from "../port-guard.ts";
import type { BinaryName } from "./binaries.ts";

/** A MongoDB or NATS server. Disposing it stops a server that was started here, and no other. */
export interface BackingServer extends AsyncDisposable {
  readonly url: string;
  /** Undefined for the external server of MONGODB_URL or NATS_URL. */
  readonly pid: number | undefined;
  /** Resolves when the process has ended. Never resolves for an external server. */
  readonly exited: Promise<ChildExit>;
}

interface LaunchOptions {
  readonly name: BinaryName;
  readonly binary: string;
  readonly args: (port: number) => readonly string[];
  /** The whole environment of the server; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly logFile: string;
  /** Resolves once the server is ready. Must stop waiting when the signal is aborted. */
  readonly ready: (port: number, signal: AbortSignal) => Promise<void>;
  readonly url: (port: number) => string;
}

const readyDeadlineMs = 60_000;
const stopDeadlineMs = 15_000;

/** @throws PortTakenError, or DevstackError with the end of the server's log */
export async function launch(options: LaunchOptions): Promise<BackingServer> {
  if (options.port !== 0) return launchOn(options.port, options);
  // Another program may have taken the port since it was picked, so up to five ports are tried.
  for (let attempt = 1; ; attempt++) {
    try {
      return await launchOn(await pickFreePort(), options);
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === 5) throw error;
    }
  }
}

async function launchOn(port: number, options: LaunchOptions): Promise<BackingServer> {
  const logStart = await sizeOf(options.logFile);
  const child = await startChild({
    command: options.binary,
    args: options.args(port),
    logFile: options.logFile,
    ...(options.env && { env: options.env }),
  });
  try {
    await untilReady(child, (signal) => options.ready(port, signal));
  } catch (error) {
    await child.stop(stopDeadlineMs);
    throw await explain(options, port, logStart, error);
  }
  return {
    url: options.url(port),
    pid: child.pid,
    exited: child.exited,
    [Symbol.asyncDispose]: async () => void (await child.stop(stopDeadlineMs)),
  };
}

async function untilReady(child: Child, ready: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = delay(readyDeadlineMs, undefined, { signal: over.signal });
  try {
    await Promise.race([
      ready(over.signal),
      child.exited.then(({ code, signal }) => Promise.reject(new Error(`ended with ${signal ?? `code ${code}`}`))),
      late.then(() => Promise.reject(new Error(`not ready after ${readyDeadlineMs} ms`))),
    ]);
  } finally {
    over.abort();
  }
}

async function explain(options: LaunchOptions, port: number, logStart: number, error: unknown): Promise<DevstackError> {
  const log = (await readFile(options.logFile)).subarray(logStart).toString();
  if (/address already in use/i.test(log)) return new PortTakenError(`${options.name} found port ${port} taken`);
  const lastLines = log.trimEnd().split("\n").slice(-5).join("\n");
  const reason = error instanceof Error ? error.message : String(error);
  return new DevstackError(`${options.name} did not start: ${reason}; the end of ${options.logFile}:\n${lastLines}`, {
    cause: error,
  });
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/**
 * Waits until the port accepts connections. Both servers listen only after recovering their data.
 */
export async function waitForListener(port: number, signal: AbortSignal): Promise<void> {
  while (!(await accepts(port))) await delay(20, undefined, { signal });
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: "127.0.0.1" });
  socket.once("connect", () => resolve(true));
  socket.once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}
