import { ConfigError } from "../env.ts";

/** An address to listen on, and the names of the settings that choose it. */
interface ListenPlace {
  readonly host: string;
  readonly port: number;
  /** For example `HOST`. */
  readonly hostSetting: string;
  /** For example `GRPC_PORT`. */
  readonly portSetting: string;
}

const portCodes = new Set(["EADDRINUSE", "EACCES"]);
const hostCodes = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"]);

/**
 * Makes a handler for `listen(…).catch`. It throws a ConfigError that names the setting when the
 * address or the port is not usable, and any other error unchanged.
 */
export function listenFault({ host, port, hostSetting, portSetting }: ListenPlace): (error: unknown) => never {
  return (error) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (portCodes.has(code)) {
      const reason = code === "EACCES" ? "may not be used by this user" : "is taken";
      throw new ConfigError(`${portSetting}: port ${port} of ${host} ${reason}`);
    }
    if (hostCodes.has(code)) throw new ConfigError(`${hostSetting}: cannot listen on ${host} (${code})`);
    throw error;
  };
}
