import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("a root is made once, for its owner only, and verifiers accept its delegation to the list key", async () => {
  const made = await run(["trust-root", "create", "root.pem"], { cwd });
  const root = made.stdout.trim();
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const file = join(cwd, "root.pem");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const before = readFileSync(file, "utf8");
  expect(before).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  expect(await run(["trust-root", "create", "root.pem"], { cwd })).toMatchObject({ code: 1 });
  expect(readFileSync(file, "utf8")).toBe(before);

  const shown = await run(["trust-root", "show", "--signing", services.target, "--json"]);
  expect(JSON.parse(shown.stdout)).toEqual({ id: "ed25519-list", publicKey: stater.listKey, delegatedUntil: null });
  const delegated = await run(["trust-root", "delegate", "root.pem", "--list-key", stater.listKey, "--json"], { cwd });
  const { delegation: encoded, validUntil } = JSON.parse(delegated.stdout) as {
    delegation: string;
    validUntil: string;
  };
  const delegation = Buffer.from(encoded, "base64").toString();
  const days = (Date.parse(validUntil) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(365);
  const { body, headers } = stater.state({ active: null, keys: [] }, { delegation });
  const [statement, signature] = [headers["vidimus-trust-statement"], headers["vidimus-trust-signature"]];
  await expect(verifyTrustList({ body, statement, signature }, { root })).resolves.toMatchObject({
    delegatedUntil: new Date(validUntil),
  });

  const install = ["trust-root", "install", encoded, "--signing", services.target];
  expect(await run(install)).toMatchObject({ code: 1, stderr: expect.stringContaining("VIDIMUS_TRUST_ROOT") });
  const done = await run([...install, "--root", root]);
  expect([done.code, done.stdout]).toEqual([
    0,
    "the root delegates to the list key ed25519-list until 2027-01-01T00:00:00.000Z\n",
  ]);
  expect(installed).toEqual([{ delegation, root }]);
});

test("a delegation for over 400 days, to a text that is no key, or by a file others may read is refused", async () => {
  await run(["trust-root", "create", "open.pem"], { cwd });
  const delegate = (...argv: string[]) => run(["trust-root", "delegate", "open.pem", ...argv], { cwd });
  expect(await delegate("--list-key", stater.listKey, "--days", "401")).toMatchObject({ code: 2 });
  expect(await delegate("--list-key", "ed25519-list")).toMatchObject({ code: 2 });
  expect(await delegate("--list-key", stater.listKey, "--days", "400")).toMatchObject({ code: 0 });
  chmodSync(join(cwd, "open.pem"), 0o644);
  const refused = await delegate("--list-key", stater.listKey);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has mode 0644")]);
});
