/**
 * CPU time of verifying one API key, compared with SHA-256 alone: every well-formed key is hashed,
 * because keys are cached by their hash. The database is left out: look-ups are answered from
 * memory.
 */
import { hashApiKey, mintApiKey } from "@vidimus/gateway/access/api-key";
import type { KnownKey } from "@vidimus/gateway/access/key-record";
import { KeyVerifier } from "@vidimus/gateway/access/key-verifier";
import { cpuMicrosOf } from "./load/cpu-cost.ts";
import { readBenchSettings } from "./load/settings.ts";
import { spreadColumns, spreadOf } from "./load/spread.ts";

const { rounds, durationMs } = readBenchSettings();

const issued = mintKeys(1_000);
const stored = new Map(issued.map(({ key, prefix }) => [prefix, toKnownKey(key, prefix)]));
const keys = issued.map(({ key }) => key);
const misspelt = keys.map((key) => key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"));
const unknown = mintKeys(1_000).map(({ key }) => key);
// More than the verifier's cache holds, so that each is evicted before it is used again.
const strangers = mintKeys(60_000).map(({ key }) => key);
const verifier = new KeyVerifier({ find: async (prefix) => stored.get(prefix) });

const contenders: { name: string; run: (index: number) => unknown }[] = [
  { name: "SHA-256 alone (the floor)", run: (index) => hashApiKey(at(keys, index)) },
  { name: "known, cached", run: verifying(keys) },
  { name: "malformed (wrong checksum)", run: verifying(misspelt) },
  { name: "unknown, cached", run: verifying(unknown) },
  { name: "unknown, looked up", run: verifying(strangers) },
];

await expectOutcomes();
for (const { run } of contenders) await cpuMicrosOf(run, durationMs / 5);
const turns: number[][] = [];
for (let round = 0; round < rounds; round += 1) {
  const costs: number[] = [];
  for (const { run } of contenders) costs.push(await cpuMicrosOf(run, durationMs / 5));
  turns.push(costs);
}
console.log(`CPU µs per key, ${rounds} turns of each, in turn; ratios pair by pair`);
const rows = contenders.map(({ name }, column) => {
  const costs = spreadOf(turns.map((turn) => turn[column]!));
  const ratios = spreadOf(turns.map((turn) => turn[column]! / turn[0]!));
  return [name, { ...spreadColumns("µs", costs), ...spreadColumns("times the floor", ratios) }];
});
console.table(Object.fromEntries(rows));

async function expectOutcomes(): Promise<void> {
  const opened = async (key: string) => (await verifier.verify(key)) !== undefined;
  const outcomes = await Promise.all([keys, misspelt, unknown, strangers].map((group) => opened(at(group, 0))));
  if (outcomes.join() !== "true,false,false,false") throw new Error(`unexpected outcomes of keys: ${outcomes.join()}`);
}

function verifying(group: readonly string[]): (index: number) => Promise<unknown> {
  return async (index) => verifier.verify(at(group, index));
}

function at(group: readonly string[], index: number): string {
  return group[index % group.length]!;
}

function mintKeys(count: number) {
  return Array.from({ length: count }, () => mintApiKey());
}

function toKnownKey(key: string, prefix: string): KnownKey {
  const access = { tenantId: "demo", tenantDisabled: false, scopes: ["publisher:read"] } as const;
  return { keyId: prefix, prefix, hash: hashApiKey(key), ...access };
}
