import { createAuthority } from "../certificates/certificate-authority.ts";
import { serviceIdentity } from "@vidimus/kit/tls/peer-identity";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DatabaseAccess, makeDatabaseAccess, writeBrokerConfig, writePrivate } from "./dev-access.ts";
import { writeGrants } from "./dev-grants.ts";
import { type ServiceName, serviceNames } from "./program-names.ts";

/** Trust domain of the dev stack. Names under `localhost` are reserved (RFC 6761). */
const trustDomain = "vidimus.localhost";

/** Identity of the CLI, the demonstration and the tests. It may do everything but at mesh doors. */
const operator = "operator" as const;

/** What `--mtls` makes: certificates, grants, and access to broker and database. */
export interface DevIdentities {
  readonly operator: TlsFiles;
  readonly services: Readonly<Record<ServiceName, TlsFiles>>;
  readonly console: TlsFiles;
  readonly grantsFile: string;
  /** Path of the configuration of nats-server, which identifies services by their certificates. */
  readonly brokerConfig: string;
  readonly database: DatabaseAccess;
  /**
   * For tests: makes a certificate with the URI names `uris`, valid until `to`, in files that begin
   * with `name`.
   */
  issue(name: string, uris: readonly string[], to?: Date): Promise<TlsFiles>;
  /**
   * Replaces the certificate of a service or of the operator. A running service uses the new one
   * within a second.
   */
  renew(name: ServiceName | typeof operator): Promise<void>;
  /**
   * Makes a new authority, which is trusted besides the old one and issues all later certificates.
   *
   * @returns a function that removes the old authority
   */
  replaceAuthority(): Promise<() => Promise<void>>;
}

/**
 * Makes a certificate authority, certificates, and access to broker and database in a folder, which
 * only its owner can enter. The authority's key is stored in no file, so every start makes all of
 * them anew. Existing grants are kept and completed.
 */
export async function makeIdentities(dir: string): Promise<DevIdentities> {
  let authority = createAuthority();
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o700);
  const caFile = join(dir, "ca.pem");
  await writeFile(caFile, authority.pair.cert);
  const issue = async (name: string, uris: readonly string[], to?: Date): Promise<TlsFiles> => {
    const { cert, key } = authority.issue({ uris, hosts: ["localhost", "127.0.0.1"], ...(to && { to }) });
    const files = { certFile: join(dir, `${name}.pem`), keyFile: join(dir, `${name}-key.pem`), caFile };
    await writePrivate(files.keyFile, key);
    await writeFile(files.certFile, cert);
    return files;
  };
  const issueFor = (service: string) => issue(service, [serviceIdentity(trustDomain, service)]);
  const services = await Promise.all(serviceNames.map(async (name) => [name, await issueFor(name)] as const));
  return {
    operator: await issueFor(operator),
    services: Object.fromEntries(services) as DevIdentities["services"],
    console: await issueFor("console"),
    grantsFile: await writeGrants(dir, trustDomain, operator),
    brokerConfig: await writeBrokerConfig(dir, trustDomain, await issueFor("nats")),
    database: await makeDatabaseAccess(dir),
    issue,
    renew: async (name) => void (await issueFor(name)),
    replaceAuthority: async () => {
      const old = authority.pair.cert;
      authority = createAuthority();
      const { cert } = authority.pair;
      await writeFile(caFile, old + cert);
      return () => writeFile(caFile, cert);
    },
  };
}
