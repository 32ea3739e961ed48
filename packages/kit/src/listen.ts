import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "./env.ts";

/** An address to listen on, and the settings that choose it. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** For example `HOST`. */
  readonly hostSetting: string;
  /** For example `GRPC_PORT`. */
  readonly portSetting: string;
}

/**
 * A port that is still taken after this time counts as used permanently: the start fails, and an
 * operator has to choose another port.
 */
const takenMsMax = 5_000;
const betweenAttemptsMs = 100;
const hostCodes = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"]);

/**
 * Opens a server. While its port is taken, tries again for up to 5 s.
 *
 * @param open makes one attempt to listen, and rejects with Node's error, whose `code` says why it
 * failed
 * @throws ConfigError that names the setting when the address or the port is not usable, and any
 * other error of `open` unchanged
 */
export async function listen<T>(address: ListenAddress, open: () => Promise<T>): Promise<T> {
  try {
    return await repeatWhileTaken(open);
  } catch (error) {
    throw faultOf(address, error) ?? error;
  }
}

/**
 * Repeats an attempt to listen for up to 5 s while the port is taken, for example by a process that
 * is about to end or by an outgoing connection. Rejects with the last error.
 *
 * @param onWait called before each repeat
 */
export async function repeatWhileTaken<T>(open: () => Promise<T>, onWait = () => {}): Promise<T> {
  const deadlineMs = performance.now() + takenMsMax;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE" || performance.now() >= deadlineMs) throw error;
    }
    onWait();
    await pause(betweenAttemptsMs);
  }
}

function faultOf({ host, port, hostSetting, portSetting }: ListenAddress, error: unknown): ConfigError | undefined {
  const code = codeOf(error);
  if (code === "EADDRINUSE") return new ConfigError(`${portSetting}: port ${port} of ${host} is taken`);
  if (code === "EACCES") return new ConfigError(`${portSetting}: port ${port} of ${host} may not be used by this user`);
  if (hostCodes.has(code)) return new ConfigError(`${hostSetting}: cannot listen on ${host} (${code})`);
  return undefined;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
