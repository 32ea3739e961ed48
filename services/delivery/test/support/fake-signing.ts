import { Code, ConnectError } from "@connectrpc/connect";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { startMeshServer } from "@vidimus/kit/rpc/mesh-server";
import { route } from "@vidimus/kit/rpc/server";
import { generateKeyPairSync, sign } from "node:crypto";
import { silentProcess } from "./scratch-log.ts";

/** A SigningService with one key and a ledger in memory, over real RPC. */
export async function openFakeSigning() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const keyId = "ed25519-AAAAAAAAAAAAAAAA";
  const ledger = new Map<string, { digest: string; statement: string }>();
  /** `refused` counts the calls while it is off. */
  const state = { off: false, refused: 0 };
  let released = Promise.resolve();
  const service = route(SigningService, {
    signSnapshots: async ({ items }) => {
      await released;
      if (state.off) {
        state.refused += 1;
        throw new ConnectError("signing is off", Code.FailedPrecondition);
      }
      const results = items.map(({ tenantId, documentId, sequence, version, status, sha256 }) => {
        const name = `${tenantId}\n${documentId}\n${sequence}`;
        const digest = Buffer.from(sha256).toString("hex");
        const known = ledger.get(name);
        if (known && known.digest !== digest) {
          return { outcome: { case: "conflictingSha256" as const, value: Buffer.from(known.digest, "hex") } };
        }
        const signedAt = new Date().toISOString();
        const statement =
          known?.statement ?? ["vidimus-snapshot-v1", name, version, status, signedAt, keyId, digest].join("\n");
        ledger.set(name, { digest, statement });
        const value = sign(null, Buffer.from(statement), privateKey);
        return { outcome: { case: "signature" as const, value: { keyId, statement, value } } };
      });
      return { results };
    },
  });
  const server = await startMeshServer({
    ...silentProcess("signing"),
    host: "127.0.0.1",
    port: 0,
    drainMs: 100,
    routes: [service],
  });
  return {
    target: `127.0.0.1:${server.port}`,
    state,
    ledger,
    /** Lets calls hang until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      released = promise;
      return resolve;
    },
    spki: publicKey.export({ type: "spki", format: "der" }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
