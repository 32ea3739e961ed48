/** A process of signing that is killed while it puts a new KEK in the place of the old one. */
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { type Binary, MongoClient } from "mongodb";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, inject, test } from "vitest";
import { digest, kekFiles, runSigning, signaturesOf } from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const files = [keks.make(1), keks.make(2)] as const;
const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "test" } };
afterAll(() => stack.disposeAsync());

const kills = 24;

/** Settings under which one KEK takes the place of the other. */
function settings(isBack: boolean) {
  const [one, two] = files;
  return isBack
    ? { SIGNING_KEK_FILE: one, SIGNING_OLD_KEK_FILE: two }
    : { SIGNING_KEK_FILE: two, SIGNING_OLD_KEK_FILE: one };
}

/** A signing process of its own, with its admin door. */
async function startProcess(database: string, variables: Record<string, string>) {
  const base = { MESH_PORT: "0", OPS_PORT: "0", GRPC_PORT: "0", LOG_LEVEL: "info", MONGODB_URL: inject("mongoUrl") };
  const attestation = { ATTESTATION_KEY_FILE: join(dirname(files[0]), "attestation-key") };
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...base, ...attestation, ...variables, MONGODB_DATABASE: database },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const { promise: started, resolve, reject } = Promise.withResolvers<number>();
  createInterface({ input: child.stdout })
    .on("line", (line) => {
      const { msg, grpcPort } = JSON.parse(line) as { msg: string; grpcPort: number };
      if (msg === "started") resolve(grpcPort);
    })
    .on("close", () => reject(new Error("the process ended before it served")));
  const admin = openRpcClient(KeyAdminService, { target: `127.0.0.1:${await started}` });
  return {
    admin,
    async kill() {
      child.kill("SIGKILL");
      await exited;
      admin[Symbol.dispose]();
    },
  };
}

/** The KEKs that wrap anything in the ring, and its revision. */
async function wrapping(database: string): Promise<{ kekIds: string[]; revision: number }> {
  const ring = (await client.db(database).collection("ring").findOne())!;
  const keys = [ring["listKey"], ...ring["keys"]];
  const sealed = [ring["seal"], ...keys.flatMap((key: { sealed?: object }) => key.sealed ?? [])];
  const idOf = ({ envelope }: { envelope: Binary }) => Buffer.from(envelope.value().subarray(1, 9)).toString("hex");
  return { kekIds: [...new Set(sealed.map(idOf))], revision: ring["revision"] };
}

test(
  `a rewrap killed at ${kills} moments leaves a ring under one KEK, and the next process signs`,
  { timeout: 300_000 },
  async () => {
    const database = testDatabaseName("signing");
    const item = digest();
    const first = await runSigning(database, { SIGNING_KEK_FILE: files[0] });
    const [signature] = signaturesOf(await first.signing.signSnapshots({ items: [item] }));
    const { keys } = await first.trustList.listKeys({});
    await first[Symbol.asyncDispose]();
    const found = { old: 0, new: 0 };
    let tookMs = 20;
    for (let kill = 0; kill < kills; kill += 1) {
      const variables = settings(kill % 2 === 1);
      const before = await wrapping(database);
      expect(before.kekIds).toHaveLength(1);
      const doomed = await startProcess(database, variables);
      // The first call opens the connection, so that the second one takes only as long as a rewrap.
      await doomed.admin.listRing({}, asAdmin);
      const rewrapped = doomed.admin.rewrapKeys({}, asAdmin).catch(() => undefined);
      await pause((kill / (kills - 1)) * 1.5 * tookMs);
      await doomed.kill();
      await rewrapped;
      const after = await wrapping(database);
      expect(after.kekIds).toHaveLength(1);
      found[after.kekIds[0] === before.kekIds[0] ? "old" : "new"] += 1;

      await using next = await runSigning(database, { ...variables, GRPC_PORT: "0" });
      expect(signaturesOf(await next.signing.signSnapshots({ items: [item] }))).toEqual([signature]);
      expect(signaturesOf(await next.signing.signSnapshots({ items: [digest()] }))).toHaveLength(1);
      using admin = openRpcClient(KeyAdminService, { target: `127.0.0.1:${next.service.grpcPort}` });
      const startedAt = performance.now();
      const { kekId, changed } = await admin.rewrapKeys({}, asAdmin);
      if (changed) tookMs = performance.now() - startedAt;
      expect((await wrapping(database)).kekIds).toEqual([kekId]);
      expect((await next.trustList.listKeys({})).keys).toEqual(keys);
    }
    expect(found.old).toBeGreaterThan(0);
    expect(found.new).toBeGreaterThan(0);
  },
);
