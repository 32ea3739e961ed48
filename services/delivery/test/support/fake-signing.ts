import { Code, ConnectError } from "@connectrpc/connect";
import { SigningService, type SnapshotDigest } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { startMeshServer } from "@vidimus/kit/rpc/doors/mesh/mesh-server";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { generateKeyPairSync, sign } from "node:crypto";
import { silentProcess } from "./scratch-log.ts";

/** The first key is `ed25519-AAAAAAAAAAAAAAAA`, the next one has B. */
function makeKey(index: number) {
  const pair = generateKeyPairSync("ed25519");
  return { keyId: `ed25519-${String.fromCharCode(65 + index).repeat(16)}`, isRevoked: false, ...pair };
}

type Key = ReturnType<typeof makeKey>;

interface Entry {
  readonly digest: string;
  readonly statement: string;
  readonly key: Key;
  readonly signingNumber: number;
}

function openLedger() {
  let active = makeKey(0);
  const keys = [active];
  const ledger = new Map<string, Entry>();
  /**
   * `refused` counts calls while signing is off, `signed` the items of calls while it is on.
   * `revision` is the trust list's.
   */
  const state = { off: false, refused: 0, signed: 0, revision: 1 };
  const signItem = (item: SnapshotDigest) => {
    const { tenantId, documentId, sequence, version, status, sha256 } = item;
    const name = `${tenantId}\n${documentId}\n${sequence}`;
    const digest = Buffer.from(sha256).toString("hex");
    const known = ledger.get(name);
    if (known && known.digest !== digest) {
      return { outcome: { case: "conflictingSha256" as const, value: Buffer.from(known.digest, "hex") } };
    }
    const lines = ["vidimus-snapshot-v1", name, version, status, new Date().toISOString(), active.keyId, digest];
    const signingNumber = (known?.signingNumber ?? 0) + 1;
    const entry =
      known && !known.key.isRevoked ? known : { digest, statement: lines.join("\n"), key: active, signingNumber };
    ledger.set(name, entry);
    const { key, statement } = entry;
    const value = sign(null, Buffer.from(statement), key.privateKey);
    const signature = { keyId: key.keyId, statement, value, signingNumber: entry.signingNumber };
    return { outcome: { case: "signature" as const, value: signature } };
  };
  /** Revokes the key that signs; another one takes its place. @returns the ids of both */
  const revoke = () => {
    const revoked = active;
    revoked.isRevoked = true;
    active = makeKey(keys.length);
    keys.push(active);
    state.revision += 1;
    return { revoked: revoked.keyId, active: active.keyId };
  };
  return { ledger, state, signItem, revoke, keys, activeKey: () => active };
}

/** A SigningService and a TrustListService with a ledger in memory, over real RPC. */
export async function openFakeSigning() {
  const { ledger, state, signItem, revoke, keys, activeKey } = openLedger();
  let released = Promise.resolve();
  const signing = route(SigningService, {
    signSnapshots: async ({ items }) => {
      await released;
      if (state.off) {
        state.refused += 1;
        throw new ConnectError("signing is off", Code.FailedPrecondition);
      }
      state.signed += items.length;
      return { results: items.map(signItem) };
    },
  });
  const trust = route(TrustListService, {
    listKeys: () => {
      const listed = keys.filter(({ isRevoked }) => !isRevoked).map(toTrusted);
      return { activeKeyId: activeKey().keyId, keys: listed, revision: BigInt(state.revision) };
    },
  });
  const own = { ...silentProcess("signing"), host: "127.0.0.1", port: 0, drainMs: 100 };
  const server = await startMeshServer({ ...own, routes: [signing, trust] });
  return {
    target: `127.0.0.1:${server.port}`,
    state,
    ledger,
    activeKey,
    revoke,
    /** Lets `signSnapshots` hang until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      released = promise;
      return resolve;
    },
    spki: toTrusted(activeKey()).publicKey,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function toTrusted({ keyId, publicKey }: Key) {
  return { keyId, algorithm: "ed25519", publicKey: publicKey.export({ type: "spki", format: "der" }) };
}
