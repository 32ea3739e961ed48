/**
 * Signatures per second through SignSnapshots, in batches as delivery sends them, compared with one
 * process that only signs and inserts the same ledger batches.
 */
import { attestationOf } from "@vidimus/contracts/attestation";
import { SigningService } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { batchItems, signingCallers } from "./baselines/signing-load.ts";
import { runCallers } from "./load/caller-load.ts";
import { compare, type Turn } from "./load/compare.ts";
import type { LoadResult } from "./load/load-result.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";
import { openStage } from "./stage/open-stage.ts";
import { runBaseline } from "./stage/run-baseline.ts";

const { rounds, durationMs } = readBenchSettings();

await using stage = await openStage();
const { dev, stateDir } = stage.constellation;
using signing = openRpcClient(SigningService, { target: dev.mesh.signing });
const attestationKey = createSecretKey(await readFile(join(stateDir, "attestation-key")));
const baseline = await stage.startBaseline("bare-signing");

const ours = { name: "vidimus", run: async () => inSignatures(await runCallers({ ...load(), call: signBatch })) };
const bare = { name: "bare", run: async () => inSignatures(await runBaseline(baseline, { durationMs })) };
const { ratio, ours: mine } = await compare(ours, bare, rounds);
console.log(`       signatures a second: ${Math.round(mine.perSecond)} (no bar)`);
checkBar("signatures a second, times raw signing and the same inserts", ratio, { atLeast: 0.5 });

function load() {
  return { callers: signingCallers, durationMs };
}

async function signBatch(): Promise<void> {
  const documentId = randomUUID();
  const items = Array.from({ length: batchItems }, (_, index) => {
    const snapshot = { tenantId: stage.tenantId, documentId, version: 1, status: "usable", sha256: randomBytes(32) };
    const attestation = attestationOf(attestationKey, { ...snapshot, sequence: index + 1 });
    return { ...snapshot, version: 1n, sequence: BigInt(index + 1), attestation };
  });
  const { results } = await signing.signSnapshots({ items });
  const refused = results.find(({ outcome }) => outcome.case !== "signature");
  if (refused || results.length !== batchItems) throw new Error(`not signed: ${refused?.outcome.case}`);
}

function inSignatures({ perSecond, p50Ms, p99Ms }: LoadResult): Turn {
  return { perSecond: perSecond * batchItems, p50Ms, p99Ms };
}
