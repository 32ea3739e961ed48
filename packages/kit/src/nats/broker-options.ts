import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  type TlsOptions,
} from "nats";
import type { SecureContext } from "node:tls";
import type { BrokerFiles } from "./broker-files.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import { parseServers } from "./servers.ts";

type BrokerOptions = Pick<ConnectionOptions, "user" | "pass" | "token" | "authenticator"> & {
  /** Contains no credentials. */
  readonly servers: string[];
  readonly tls?: TlsOptions & { readonly secureContext: SecureContext | undefined };
};

/**
 * Returns the options of nats.js for the settings.
 *
 * @param files returns the newest good content of the settings' files, for each new connection
 * @throws ConfigError when NATS_URL cannot be used
 */
export function brokerOptions(settings: BrokerSettings, files: () => BrokerFiles): BrokerOptions {
  const { isTls, ...address } = parseServers(settings.url);
  const authenticator = authenticatorOf(settings, files);
  return {
    ...address,
    ...(authenticator && { authenticator }),
    // nats.js ignores `tls://`: without this option it would accept a server without TLS. It passes
    // `secureContext` on to `tls.connect`. If it read the files by itself, a server that resets the
    // connection meanwhile would end the process, because nothing listens for the socket's errors.
    ...((isTls || settings.tls) && {
      tls: {
        get secureContext() {
          return files().context;
        },
      },
    }),
  };
}

/**
 * nats.js closes the connection for good when an authenticator throws, so it gets only credentials
 * that `parseBrokerFiles` has accepted.
 */
function authenticatorOf(settings: BrokerSettings, files: () => BrokerFiles): Authenticator | undefined {
  const { credsFile, seedFile } = settings;
  const credentials = () => files().credentials;
  if (credsFile) return credsAuthenticator(credentials);
  return seedFile ? nkeyAuthenticator(credentials) : undefined;
}
