import { repeatWhileTaken } from "@vidimus/kit/listen";
import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";
import { DevstackError, PortTakenError } from "./errors.ts";

const loopback = "127.0.0.1";

/**
 * Checks a port before a child is started, so that the error names `variable`: the own error of a
 * service would name GRPC_PORT, for example, and that of mongod no setting. A port that is taken is
 * tried again for 5 s.
 *
 * @param variable the setting that changes the port, for the message
 * @param onWait called while the port is taken, before it is tried again
 * @throws PortTakenError, or DevstackError when the port is not usable for another reason
 */
export async function assertPortFree(port: number, variable: string, onWait?: () => void): Promise<void> {
  try {
    await repeatWhileTaken(() => listenOnce(port), onWait);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EADDRINUSE") {
      throw new PortTakenError(
        `port ${port} is taken (another process listens on ${loopback}:${port}); set ${variable} to another`,
      );
    }
    throw new DevstackError(`port ${port} cannot be used (${code ?? String(error)}); set ${variable} to another`);
  }
}

/** Above the ports that programs usually have. */
const pickedFrom = 10_000;
/**
 * Outgoing connections have local ports from 32,768 up (Linux; elsewhere from 49,152), so one of
 * them could take a port picked there before the caller listens.
 */
const pickedBelow = 32_768;

/** Ports whose numbers have the same remainder modulo this number are a class. */
const classes = 16;
const portsOfClass = Math.floor((pickedBelow - pickedFrom) / classes);
let claim: Promise<number> | undefined;
/** The ports that were tried last, oldest first; at most half of the class. */
const tried: number[] = [];

/**
 * Returns a free port of 127.0.0.1, of a class from which no other process or thread picks while
 * this one lives. A port is not returned again before 700 others were tried, because seconds may
 * pass before the caller listens.
 *
 * @throws DevstackError when other processes and threads have claimed all classes
 */
export async function pickFreePort(): Promise<number> {
  const first = await (claim ??= claimClass());
  for (;;) {
    const port = first + randomInt(1, portsOfClass) * classes;
    if (tried.includes(port)) continue;
    tried.push(port);
    if (tried.length > portsOfClass / 2) tried.shift();
    try {
      return await listenOnce(port);
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE") throw error;
    }
  }
}

/** Claims a class by listening on its first port until this process ends. Returns that port. */
async function claimClass(): Promise<number> {
  for (let port = pickedFrom; port < pickedFrom + classes; port += 1) {
    try {
      (await listenOn(port)).unref();
      return port;
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE") throw error;
    }
  }
  throw new DevstackError(`the ports ${pickedFrom} to ${pickedFrom + classes - 1} of ${loopback} are all taken`);
}

async function listenOnce(port: number): Promise<number> {
  const server = await listenOn(port);
  const { promise, resolve } = Promise.withResolvers<number>();
  server.close(() => resolve(port));
  return promise;
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once("error", reject);
  server.listen({ port, host: loopback, exclusive: true }, () => resolve(server));
  return promise;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
