/** The package as a receiver gets it: packed, installed into an empty folder, and run there. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { vector } from "../src/webhook-vector.ts";

const packageFolder = join(import.meta.dirname, "..");
const compiler = join(packageFolder, "../../node_modules/typescript/bin/tsc");
let folder: string;
let installed: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vidimus-verify-"));
  const [packed] = JSON.parse(run(packageFolder, "npm", "pack", "--json", "--pack-destination", folder));
  const consumer = join(folder, "consumer");
  mkdirSync(consumer);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  run(consumer, "npm", "install", "--offline", "--no-audit", "--no-fund", join(folder, packed.filename));
  installed = join(consumer, "node_modules/@vidimus/verify");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(cwd: string, program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? ""}\n${stdout}\n${stderr}`);
  return stdout;
}

test("besides its package.json the package holds only JavaScript, types and a README", () => {
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).sort();
  expect(files).toEqual(expect.arrayContaining(["README.md", "dist/verify.d.ts", "dist/verify.js", "package.json"]));
  expect(files.filter((file) => !/^(dist|README\.md|package\.json|dist\/[\w-]+(\.d\.ts|\.js))$/.test(file))).toEqual(
    [],
  );
  expect(files.filter((file) => /test|vector/.test(file))).toEqual([]);
});

test("the package depends on nothing", () => {
  expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).not.toHaveProperty("dependencies");
  expect(readdirSync(join(installed, "../.."), { encoding: "utf8" }).filter((name) => !name.startsWith("."))).toEqual([
    "@vidimus",
  ]);
});

test("the package verifies and refuses deliveries without Node's globals `Buffer` and `process`", () => {
  const consumer = join(installed, "../../..");
  const program = `
    const print = console.log;
    delete globalThis.Buffer;
    delete globalThis.process;
    const { verifyDelivery } = await import("@vidimus/verify");
    const headers = ${JSON.stringify(vector.headers)};
    const body = atob("${vector.bodyBase64}");
    const bytes = Uint8Array.from(body, (char) => char.charCodeAt(0));
    const keys = [{
      keyId: "${vector.keyId}", algorithm: "ed25519", publicKey: "${vector.publicKeyBase64}",
      validFrom: "2026-11-01T00:00:00.000Z", validUntil: null,
    }];
    const options = { secret: "${vector.secret}", keys, now: () => ${vector.at.getTime()} };
    const { kind, sequence } = await verifyDelivery({ headers, body: bytes }, options);
    bytes[300] ^= 1;
    const refused = await verifyDelivery({ headers, body: bytes }, options).catch(({ name, fault }) => ({ name, fault }));
    print(JSON.stringify({ kind, sequence, refused }));
  `;
  const printed = run(consumer, process.execPath, "--input-type=module", "--eval", program);
  const refused = { name: "VerificationError", fault: "body" };
  expect(JSON.parse(printed)).toEqual({ kind: "snapshot", sequence: 12, refused });
});

test("the package's types check in a strict consumer that knows neither Node nor the DOM", () => {
  const consumer = join(installed, "../../..");
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    lib: ["es2022"],
    types: [],
    strict: true,
    noEmit: true,
  };
  writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["consumer.ts"] }));
  const source = `
    import { sequenceGuard, trustListAt, VerificationError, verifyDelivery, verifySnapshot } from "@vidimus/verify";
    import type { DeliveryRequest, SnapshotDelivery } from "@vidimus/verify";
    const keys = trustListAt("https://vidimus.example/api/keys");
    const guard = sequenceGuard(new Map<string, number>());
    export async function receive(request: DeliveryRequest): Promise<string> {
      try {
        const delivery = await verifyDelivery(request, { secret: ["whsec_a", "whsec_b"], keys });
        if (delivery.kind === "event") return delivery.type;
        const snapshot: SnapshotDelivery = delivery;
        await verifySnapshot(snapshot.bytes, snapshot.signature, keys);
        return await guard(delivery, () => snapshot.documentId);
      } catch (error) {
        return error instanceof VerificationError ? error.fault : "unknown";
      }
    }
  `;
  writeFileSync(join(consumer, "consumer.ts"), source);
  run(consumer, process.execPath, compiler, "--project", consumer);
  writeFileSync(join(consumer, "consumer.ts"), source.replace('"whsec_b"', "17"));
  expect(() => run(consumer, process.execPath, compiler, "--project", consumer)).toThrow("TS2322");
});
