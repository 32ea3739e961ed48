import type { Registry } from "prom-client";
import { Gauge } from "prom-client";
import { ConfigError } from "../env.ts";
import { LiveFiles } from "../live-files.ts";
import type { Logger } from "../telemetry/log.ts";
import { parsePem, readPemFiles, type TlsFiles, type TlsMaterial } from "./tls-files.ts";

/** The certificate of this process, which is replaced while it runs. */
export type LiveCertificate = LiveFiles<TlsMaterial>;

interface LiveCertificateOptions {
  readonly files: TlsFiles;
  /** Name of the service: the certificate must name `spiffe://<trust domain>/<service>`. */
  readonly service: string;
  readonly log: Logger;
  readonly registry: Registry;
  /** Pause between two looks at the files; 1 s by default. */
  readonly everyMs?: number;
}

/**
 * Opens the certificate of a service and follows its files. New connections get the new
 * certificate; running ones keep theirs until they reach their age.
 *
 * @throws ConfigError naming every fault: a file that cannot be read, a certificate that has
 * expired, has not one URI name or names another service, a key of another certificate
 */
export function openLiveCertificate(options: LiveCertificateOptions): LiveCertificate {
  const { files, service, log, registry, everyMs } = options;
  let first: string | undefined;
  const parse = (contents: readonly Buffer[]) => {
    const material = parsePem(contents);
    const expected = first ?? material.identity.replace(/^(spiffe:\/\/[^/]+).*$/, `$1/${service}`);
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
