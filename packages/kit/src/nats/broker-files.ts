import { createSecureContext, type SecureContext } from "node:tls";
import type { Registry } from "prom-client";
import { ConfigError } from "../env.ts";
import { LiveFiles } from "../live-files.ts";
import type { Logger } from "../telemetry/log.ts";
import { type BrokerSettings, parseBrokerFiles, readBrokerFiles } from "./broker-settings.ts";

/** The content of the files that `BrokerSettings` name. */
export interface BrokerFiles {
  /** Of NATS_CREDS or NATS_NKEY_SEED; empty without either. */
  readonly credentials: Uint8Array;
  /** Of NATS_CA, NATS_CERT and NATS_KEY; undefined without any. */
  readonly context: SecureContext | undefined;
}

interface BrokerFilesOptions extends BrokerSettings {
  readonly log: Logger;
  readonly registry: Registry;
}

/**
 * Follows the files of the settings, so that they can be replaced while the process runs.
 *
 * @throws ConfigError naming the setting whose file cannot be used
 */
export function openBrokerFiles({ log, registry, ...settings }: BrokerFilesOptions): LiveFiles<BrokerFiles> {
  return new LiveFiles<BrokerFiles>({
    what: "broker credentials",
    read: () => readBrokerFiles(settings),
    parse: (contents) => ({
      credentials: parseBrokerFiles(contents, settings),
      context: settings.tls && contextOf(contents.slice(1)),
    }),
    log,
    registry,
  });
}

function contextOf(pem: readonly Buffer[]): SecureContext {
  const [ca, cert, key] = pem.map((content) => (content.length > 0 ? content : undefined));
  try {
    return createSecureContext({ ca, cert, key });
  } catch {
    // OpenSSL refuses more than `parseBrokerFiles` does, such as keys that are too short.
    throw new ConfigError("NATS_CA, NATS_CERT and NATS_KEY: cannot be used");
  }
}
