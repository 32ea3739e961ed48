import { unbox } from "@vidimus/kit/kek/kek-box";
import type { Db, MongoClient } from "mongodb";
import { createSecretKey } from "node:crypto";
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename, join } from "node:path";

/** From the name of a secret to its bytes, and to the services that may have them. */
type Secrets = Readonly<Record<string, { readonly bytes: Buffer; readonly owners: readonly string[] }>>;

/** The beginning of a private Ed25519 key in PKCS #8, before its 32 secret bytes. */
const pkcs8Header = Buffer.from("302e020100300506032b657004220420", "hex");
const headerBytes = 9;
const boxedDataKeyBytes = 60;

/**
 * Gathers the secrets of a dev stack: the two KEKs, the attestation key, an endpoint's secret, and
 * every private key of the ring, which it unwraps as signing does.
 */
export async function rawSecrets(stateDir: string, ledger: Db, endpointSecret: string): Promise<Secrets> {
  const file = (name: string) => readFile(join(stateDir, name));
  const kek = await file("kek");
  const secrets: Record<string, Secrets[string]> = {
    "signing's KEK": { bytes: kek, owners: ["signing"] },
    "delivery's KEK": { bytes: await file("delivery-kek"), owners: ["delivery"] },
    "an endpoint's secret": {
      bytes: Buffer.from(endpointSecret.replace("whsec_", ""), "base64"),
      owners: ["delivery"],
    },
    "the attestation key": { bytes: await file("attestation-key"), owners: ["documents", "signing"] },
  };
  const ring = await ledger.collection("ring").findOne();
  for (const { keyId, publicKey, sealed } of ring?.["keys"] ?? []) {
    if (!sealed) continue;
    const envelope = Buffer.from(sealed.envelope.value());
    const header = envelope.subarray(0, headerBytes);
    const name = Buffer.from(`${keyId}\n`);
    const aad = Buffer.concat([Buffer.from("vidimus-sealed-key\n"), header, name, publicKey.value()]);
    const boxes = envelope.subarray(headerBytes);
    const dataKey = unbox(createSecretKey(kek), boxes.subarray(0, boxedDataKeyBytes), aad);
    const pkcs8 = unbox(dataKey, boxes.subarray(boxedDataKeyBytes), aad);
    if (!pkcs8.subarray(0, pkcs8Header.length).equals(pkcs8Header)) throw new Error("this is no private key");
    secrets[`the private key ${keyId}`] = { bytes: pkcs8.subarray(pkcs8Header.length), owners: ["signing"] };
  }
  return secrets;
}

/**
 * Looks for secrets in all logs, in what the broker stores, and in the environments and open files
 * of processes that do not own them. Their environments must not name the file of a secret, either.
 *
 * @returns what was found where
 */
export async function secretsInFiles(
  stateDir: string,
  pids: Readonly<Record<string, number>>,
  secrets: Secrets,
): Promise<string[]> {
  const found: string[] = [];
  const look = (where: string, process: string, bytes: Buffer) => {
    const service = process.replace(/-\d+$/, "");
    for (const [name, secret] of Object.entries(secrets)) {
      if (!secret.owners.includes(service) && holds(bytes, secret.bytes)) found.push(`${name} in ${where}`);
    }
  };
  for (const [name, pid] of Object.entries(pids)) {
    const environment = await readFile(`/proc/${pid}/environ`);
    look(`the environment of ${name}`, name, environment);
    const paths = { kek: ["signing"], "delivery-kek": ["delivery"], "attestation-key": ["documents", "signing"] };
    for (const [file, owners] of Object.entries(paths)) {
      const isOwner = owners.includes(name.replace(/-\d+$/, ""));
      if (!isOwner && environment.includes(`${join(stateDir, file)}\0`)) found.push(`the path of ${file} in ${name}`);
    }
    // mongod's files are compressed; `secretsInRows` reads what is in them.
    if (name === "mongod") continue;
    for (const fd of await readdir(`/proc/${pid}/fd`)) {
      const path = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      if (!path.startsWith(stateDir)) continue;
      look(`${basename(path)}, which ${name} has open`, name, await readFile(path));
    }
  }
  for (const folder of ["logs", "data/nats"]) {
    const entries = await readdir(join(stateDir, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((each) => each.isFile())) {
      look(join(folder, entry.name), "", await readFile(join(entry.parentPath, entry.name)));
    }
  }
  return found;
}

/** Looks for secrets in every row of every database, as BSON. */
export async function secretsInRows(mongo: MongoClient, secrets: Secrets): Promise<string[]> {
  const found: string[] = [];
  const { databases } = await mongo.db().admin().listDatabases({ nameOnly: true });
  for (const { name } of databases) {
    const collections = await mongo.db(name).listCollections({}, { nameOnly: true }).toArray();
    for (const collection of collections) {
      for await (const row of mongo.db(name).collection(collection.name).find({}, { raw: true })) {
        const bytes = Buffer.from(row as unknown as Uint8Array);
        for (const [secret, { bytes: wanted }] of Object.entries(secrets)) {
          if (holds(bytes, wanted)) found.push(`${secret} in ${name}.${collection.name}`);
        }
      }
    }
  }
  return [...new Set(found)];
}

/** Whether bytes contain a secret: raw, in hex, or in either base64. */
function holds(bytes: Buffer, secret: Buffer): boolean {
  const base64 = secret.toString("base64").replace(/=+$/, "");
  const forms = [secret, secret.toString("hex"), secret.toString("hex").toUpperCase(), base64];
  return [...forms, secret.toString("base64url")].some((form) => bytes.includes(form));
}
