import type { Registry } from "prom-client";
import { Gauge } from "prom-client";
import { ConfigError } from "../env.ts";
import { LiveFiles } from "../live-files.ts";
import type { Logger } from "../telemetry/log.ts";
import { siblingIdentity } from "./sibling-identity.ts";
import { parsePem, readPemFiles, type TlsFiles } from "./tls-files.ts";
import type { TlsMaterial } from "./tls-material.ts";

/** This process's certificate, whose files are replaced while the process runs. */
export type LiveCertificate = LiveFiles<TlsMaterial>;

interface LiveCertificateOptions {
  readonly files: TlsFiles;
  /** Name of the service whose identity the certificate must state. */
  readonly service: string;
  readonly log: Logger;
  readonly registry: Registry;
  /** Pause between two reads of the files; 1 s by default. */
  readonly everyMs?: number;
}

/**
 * Opens the certificate of a service and reloads its files. New connections use the new
 * certificate. A connection of a door keeps the old one until its age limit (`sessionAgeMs`) ends
 * it; connections to other services are renewed at once.
 *
 * @throws ConfigError naming the first file that cannot be read, else every fault that `parsePem`
 * finds, else the other service that the certificate names
 */
export function openLiveCertificate(options: LiveCertificateOptions): LiveCertificate {
  const { files, service, log, registry, everyMs } = options;
  let first: string | undefined;
  const parse = (contents: readonly Buffer[]) => {
    const material = { ...parsePem(contents), identityPath: files.identityPath };
    const expected = first ?? siblingIdentity(material, service);
    if (material.identity !== expected) {
      throw new ConfigError(`TLS_CERT_FILE: names ${material.identity}, this service is ${expected}`);
    }
    first = expected;
    return material;
  };
  const live = new LiveFiles<TlsMaterial>({
    what: "certificate",
    read: () => readPemFiles(files),
    parse,
    log,
    registry,
    ...(everyMs === undefined ? {} : { everyMs }),
  });
  const expiry = new Gauge({
    name: "vidimus_certificate_expiry_seconds",
    help: "End of validity of the certificate in use, in seconds since 1970.",
    registers: [],
    collect() {
      this.set(live.value.validToMs / 1_000);
    },
  });
  registry.registerMetric(expiry);
  return live;
}
