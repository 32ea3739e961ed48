import { serviceIdentity } from "@vidimus/kit/tls/peer-identity";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MongodAccess } from "../backing/replica-set.ts";
import { projectDir } from "../paths.ts";
import { type ProgramName, programNames } from "./program-names.ts";

/** Key file and passwords of MongoDB, made at each start, as certificates are. */
export interface DatabaseAccess extends MongodAccess {
  readonly passwords: Readonly<Record<ProgramName, string>>;
}

/**
 * Writes the key file of mongod into a folder, and makes passwords. Those of the programs are
 * stored in no file; the operator's is in dev.json, as a part of MongoDB's URL.
 */
export async function makeDatabaseAccess(dir: string): Promise<DatabaseAccess> {
  const keyFile = join(dir, "mongodb-keyfile");
  await writePrivate(keyFile, `${randomBytes(48).toString("base64")}\n`);
  const passwords = programNames.map((name) => [name, makePassword()] as const);
  return {
    keyFile,
    operatorPassword: makePassword(),
    passwords: Object.fromEntries(passwords) as DatabaseAccess["passwords"],
  };
}

function makePassword(): string {
  return randomBytes(24).toString("base64url");
}

/** Permissions of the three services that use the broker; a cluster uses the same file. */
const permissionsFile = join(projectDir, "deploy/k8s/components/nats/permissions.conf");

/**
 * Writes a configuration into a folder, with which nats-server demands a certificate, whose
 * identity determines the client's permissions. Returns the path of the configuration.
 *
 * @param files of the server's own certificate
 */
export async function writeBrokerConfig(dir: string, trustDomain: string, files: TlsFiles): Promise<string> {
  const identities = ["gateway", "documents", "delivery"].map(
    (service) => `${service.toUpperCase()}_IDENTITY: "${serviceIdentity(trustDomain, service)}"`,
  );
  const tls = `tls {
  cert_file: ${JSON.stringify(files.certFile)}
  key_file: ${JSON.stringify(files.keyFile)}
  ca_file: ${JSON.stringify(files.caFile)}
  verify_and_map: true
}`;
  const path = join(dir, "nats.conf");
  await writeFile(path, [...identities, tls, await readFile(permissionsFile, "utf8")].join("\n"));
  return path;
}

/**
 * Writes a file that only its owner can read. An existing file is removed first, because it would
 * keep its mode.
 */
export async function writePrivate(path: string, content: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, content, { mode: 0o600 });
}
