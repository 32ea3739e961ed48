import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { listStater } from "../../verify/test/support/list-stater.ts";
import { verifyTrustList } from "../../verify/src/verify.ts";
import { run } from "./support/run.ts";
import { openTestServices, route } from "./support/services.ts";

const stater = listStater();
const delegatedUntil = timestampFromDate(new Date("2027-01-01T00:00:00.000Z"));
const listKey = { keyId: "ed25519-list", publicKey: Buffer.from(stater.listKey, "base64") };
const installed: { delegation: string; root: string }[] = [];
let services: Awaited<ReturnType<typeof openTestServices>>;
let cwd: string;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "vidimus-root-"));
  services = await openTestServices(
    route(KeyAdminService, {
      listRing: () => ({ keys: [], revision: 1n, listKey }),
      installDelegation({ delegation, rootPublicKey }) {
        installed.push({ delegation, root: Buffer.from(rootPublicKey).toString("base64") });
        return { listKey: { ...listKey, delegatedUntil }, revision: 2n };
      },
    }),
  );
});
afterAll(async () => {
  await services[Symbol.asyncDispose]();
  rmSync(cwd, { recursive: true });
});
beforeEach(() => void installed.splice(0));

/** Makes a root in a new file. Returns its public key. */
const makeRoot = async (file: string) => (await run(["trust-root", "create", file], { cwd })).stdout.trim();

/** Signs a delegation to the list key with the root of a file, for as long as by default. */
async function delegateBy(file: string) {
  const { stdout } = await run(["trust-root", "delegate", file, "--list-key", stater.listKey, "--json"], { cwd });
  return JSON.parse(stdout) as { delegation: string; validUntil: string };
}

test("trust-root create writes a private key into a file of mode 0600", async () => {
  const made = await run(["trust-root", "create", "root.pem"], { cwd });
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const file = join(cwd, "root.pem");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toMatch(/^-----BEGIN PRIVATE KEY-----/);
});

test("a root is not written over an existing file", async () => {
  await makeRoot("kept.pem");
  const file = join(cwd, "kept.pem");
  const before = readFileSync(file, "utf8");
  expect(await run(["trust-root", "create", "kept.pem"], { cwd })).toMatchObject({ code: 1 });
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("trust-root show prints a list key that has no delegation", async () => {
  const shown = await run(["trust-root", "show", "--signing", services.target, "--json"]);
  expect(JSON.parse(shown.stdout)).toEqual({ id: "ed25519-list", publicKey: stater.listKey, delegatedUntil: null });
});

test("a delegation holds for a year by default", async () => {
  await makeRoot("default.pem");
  const { validUntil } = await delegateBy("default.pem");
  const days = (Date.parse(validUntil) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(365);
});

test("verifiers accept a root's delegation to the list key", async () => {
  const root = await makeRoot("year.pem");
  const { delegation: encoded, validUntil } = await delegateBy("year.pem");
  const delegation = Buffer.from(encoded, "base64").toString();
  const { body, headers } = stater.state({ active: null, keys: [] }, { delegation });
  const [statement, signature] = [headers["vidimus-trust-statement"], headers["vidimus-trust-signature"]];
  await expect(verifyTrustList({ body, statement, signature }, { root })).resolves.toMatchObject({
    delegatedUntil: new Date(validUntil),
  });
});

test("trust-root install fails without the root's public key", async () => {
  const install = ["trust-root", "install", "e30=", "--signing", services.target];
  expect(await run(install)).toMatchObject({ code: 1, stderr: expect.stringContaining("VIDIMUS_TRUST_ROOT") });
  expect(installed).toEqual([]);
});

test("trust-root install sends the root's public key and its delegation to signing", async () => {
  const root = await makeRoot("install.pem");
  const { delegation: encoded } = await delegateBy("install.pem");
  const done = await run(["trust-root", "install", encoded, "--signing", services.target, "--root", root]);
  expect([done.code, done.stdout]).toEqual([
    0,
    "the root delegates to the list key ed25519-list until 2027-01-01T00:00:00.000Z\n",
  ]);
  expect(installed).toEqual([{ delegation: Buffer.from(encoded, "base64").toString(), root }]);
});

/** Makes a root in a new file, and delegates with it. */
async function delegate(file: string, ...argv: string[]) {
  await makeRoot(file);
  return run(["trust-root", "delegate", file, ...argv], { cwd });
}

test("a delegation for over 400 days is refused", async () => {
  expect(await delegate("longest.pem", "--list-key", stater.listKey, "--days", "400")).toMatchObject({ code: 0 });
  expect(await delegate("longer.pem", "--list-key", stater.listKey, "--days", "401")).toMatchObject({ code: 2 });
});

test("a delegation to a text that is no key is refused", async () => {
  expect(await delegate("text.pem", "--list-key", "ed25519-list")).toMatchObject({ code: 2 });
});

test("a delegation by a root whose file others may read is refused", async () => {
  await makeRoot("open.pem");
  chmodSync(join(cwd, "open.pem"), 0o644);
  const refused = await run(["trust-root", "delegate", "open.pem", "--list-key", stater.listKey], { cwd });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has mode 0644")]);
});
