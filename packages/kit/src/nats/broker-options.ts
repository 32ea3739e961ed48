import { type Authenticator, type ConnectionOptions, credsAuthenticator, nkeyAuthenticator } from "nats";
import type { Logger } from "../telemetry/log.ts";
import { type BrokerSettings, readCreds, readSeed } from "./broker-settings.ts";
import { parseServers } from "./servers.ts";

type BrokerOptions = Pick<ConnectionOptions, "user" | "pass" | "token" | "authenticator" | "tls"> & {
  /** Contains no credentials. */
  readonly servers: string[];
};

/**
 * Returns the options of nats.js for the settings. Each new connection reads the files again, so
 * they can be replaced while the process runs.
 *
 * @throws ConfigError naming the setting that cannot be used
 */
export function brokerOptions(settings: BrokerSettings, log: Logger): BrokerOptions {
  const { isTls, ...address } = parseServers(settings.url);
  const authenticator = openAuthenticator(settings, log);
  return {
    ...address,
    ...(authenticator && { authenticator }),
    // nats.js ignores `tls://`: without this option it would connect without TLS.
    ...((isTls || settings.tls) && { tls: { ...settings.tls } }),
  };
}

function openAuthenticator({ credsFile, seedFile }: BrokerSettings, log: Logger): Authenticator | undefined {
  if (credsFile) {
    const latest = latestOf(() => readCreds(credsFile), log);
    return (nonce) => credsAuthenticator(latest())(nonce);
  }
  if (!seedFile) return undefined;
  const latest = latestOf(() => readSeed(seedFile), log);
  return (nonce) => nkeyAuthenticator(latest())(nonce);
}

/**
 * Reads a file at each call, and returns its last good content when reading fails, because nats.js
 * closes the connection for good when its authenticator throws.
 */
function latestOf(read: () => Uint8Array, log: Logger): () => Uint8Array {
  let latest = read();
  return () => {
    try {
      latest = read();
    } catch (error) {
      log.error({ err: error }, "credentials for the broker cannot be read, the last good ones are used");
    }
    return latest;
  };
}
