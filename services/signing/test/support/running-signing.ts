import { attestationOf } from "@vidimus/contracts/attestation";
import { SigningService, type SignSnapshotsResponse } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import type { Signature } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { type ListKeysResponse, TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { createHash, createSecretKey, randomBytes, randomUUID, webcrypto } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { readConfig } from "../../src/config.ts";
import { startSigning } from "../../src/signing.ts";
import { givenCustody } from "./test-custody.ts";

const attestationKey = createSecretKey(randomBytes(32));
const attestationFile = "attestation-key";

/** Makes KEK files, with a file of the attestation key beside them; disposing removes them. */
export function kekFiles(): Disposable & { make(byte: number): string } {
  const folder = mkdtempSync(join(tmpdir(), "vidimus-kek-"));
  return {
    make(byte) {
      const path = join(folder, `kek-${byte}`);
      writeFileSync(path, Buffer.alloc(32, byte).toString("hex"), { mode: 0o600 });
      writeFileSync(join(folder, attestationFile), attestationKey.export(), { mode: 0o600 });
      return path;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/**
 * Starts a signing process on a database, with clients of its mesh door.
 *
 * @returns `signing` attests what it sends as documents would; `unattested` sends it as it is
 */
export async function runSigning(database: string, variables: Record<string, string>) {
  await using stack = new AsyncDisposableStack();
  const base = { MESH_PORT: "0", OPS_PORT: "0", LOG_LEVEL: "silent", MONGODB_URL: inject("mongoUrl") };
  const kekFile = variables["SIGNING_KEK_FILE"];
  const attestation = kekFile ? { ATTESTATION_KEY_FILE: join(dirname(kekFile), attestationFile) } : {};
  const config = readConfig({ ...base, MONGODB_DATABASE: database, ...attestation, ...variables });
  const service = stack.use(await startSigning(config, givenCustody));
  const target = `127.0.0.1:${service.meshPort}`;
  const unattested = stack.use(openRpcClient(SigningService, { target }));
  const signing = {
    signSnapshots: ({ items }: { items: readonly TestDigest[] }) =>
      unattested.signSnapshots({ items: items.map((item) => ({ attestation: attest(item), ...item })) }),
  };
  const trustList = stack.use(openRpcClient(TrustListService, { target }));
  const running = stack.move();
  return { database, signing, unattested, trustList, service, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

export interface TestDigest {
  tenantId: string;
  documentId: string;
  sequence: bigint;
  version: bigint;
  status: string;
  sha256: Uint8Array;
  /** Without it `signing` sends the one that documents would make, and `unattested` sends none. */
  attestation?: Uint8Array;
}

export function attest(item: TestDigest, key = attestationKey): Uint8Array {
  return attestationOf(key, { ...item, sequence: Number(item.sequence), version: Number(item.version) });
}

/** A digest of the first snapshot of a new document. */
export function digest(change: Partial<TestDigest> = {}): TestDigest {
  const documentId = randomUUID();
  const sha256 = digestOf(documentId);
  return { tenantId: "demo", documentId, sequence: 1n, version: 1n, status: "usable", sha256, ...change };
}

export function digestOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/** The signatures of a response; throws when an item was refused. */
export function signaturesOf({ results }: SignSnapshotsResponse): Signature[] {
  return results.map(({ outcome }) => {
    if (outcome.case !== "signature") throw new Error(`not signed: ${outcome.case}`);
    return outcome.value;
  });
}

/** Verifies as a receiver does: with Web Crypto, from the trust list and the statement alone. */
export async function verifies(list: ListKeysResponse, { keyId, statement, value }: Signature): Promise<boolean> {
  const entry = list.keys.find((key) => key.keyId === keyId);
  if (!entry) return false;
  const { subtle } = webcrypto;
  const key = await subtle.importKey("spki", Uint8Array.from(entry.publicKey), "Ed25519", false, ["verify"]);
  return subtle.verify("Ed25519", key, Uint8Array.from(value), new TextEncoder().encode(statement));
}
