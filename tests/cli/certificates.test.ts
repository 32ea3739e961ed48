/** The command line against services that demand certificates. */
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedConstellation, type SharedConstellation } from "../support/shared-constellation.ts";
import { vidimus } from "../support/vidimus.ts";

let stack: SharedConstellation;
let identities: NonNullable<SharedConstellation["identities"]>;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-certificates-"));
  stack = await sharedConstellation({ mtls: true });
  if (!stack.identities) throw new Error("the constellation has no certificates");
  identities = stack.identities;
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** Runs `tenants list` in a folder without a dev stack. */
function listTenants(...argv: readonly string[]) {
  return vidimus(["tenants", "list", ...argv], { cwd: dir, sleep: () => Promise.resolve() });
}

const flagsOf = ({ certFile, keyFile, caFile }: TlsFiles) => ["--cert", certFile, "--keyfile", keyFile, "--ca", caFile];
const at = () => ["--access", stack.dev.grpc.access];

it("a certificate is given by flags, or by a profile that only the user can read", async () => {
  const { operator } = identities;
  expect(await listTenants(...at(), ...flagsOf(operator))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("demo"),
  });
  const file = join(dir, ".config", "vidimus", "profiles.json");
  await mkdir(join(dir, ".config", "vidimus"), { recursive: true });
  const { certFile: cert, keyFile: keyfile, caFile: ca } = operator;
  const profile = { access: stack.dev.grpc.access, cert, keyfile, ca };
  await writeFile(file, JSON.stringify({ stack: profile }), { mode: 0o600 });
  expect(await listTenants("--profile", "stack")).toMatchObject({ code: 0, stdout: expect.stringContaining("demo") });
  await chmod(file, 0o644);
  const stderr = expect.stringContaining("has mode 0644: chmod 600 it");
  expect(await listTenants("--profile", "stack")).toMatchObject({ code: 1, stderr });
});

it("without a certificate nothing is answered", async () => {
  expect(await listTenants(...at())).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be reached") });
});

it("a certificate without a grant is refused, and the message names its identity", async () => {
  const nobody = await identities.issue("nobody", ["spiffe://vidimus.localhost/team/nobody"]);
  const stderr = expect.stringMatching(/team\/nobody may not call .*AccessService\/ListTenants: it has no grant/);
  expect(await listTenants(...at(), ...flagsOf(nobody))).toMatchObject({ code: 1, stderr });
});

it("a certificate without its key, or with a key that others may read, is an error before any request", async () => {
  const { operator } = identities;
  const half = await listTenants(...at(), "--cert", operator.certFile);
  expect(half).toMatchObject({ code: 1, stderr: expect.stringContaining("--keyfile") });
  const open = await identities.issue("open", ["spiffe://vidimus.localhost/operator"]);
  await chmod(open.keyFile, 0o644);
  const stderr = expect.stringContaining("has mode 0644, which lets others at the secret");
  expect(await listTenants(...at(), ...flagsOf(open))).toMatchObject({ code: 1, stderr });
});

it("a server whose certificate names another service is not called", async () => {
  const stderr = expect.stringContaining("cannot be reached");
  const target = ["--access", stack.dev.grpc.documents];
  expect(await listTenants(...target, ...flagsOf(identities.operator))).toMatchObject({ code: 1, stderr });
});
