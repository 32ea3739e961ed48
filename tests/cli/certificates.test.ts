/** The command line against services that demand certificates. */
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { Readiness } from "@vidimus/kit/readiness";
import { partialRoute, startTeamsServer } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { createLogger } from "@vidimus/kit/telemetry/log";
import { createMetrics } from "@vidimus/kit/telemetry/metrics";
import { parsePem, readPemFiles, type TlsFiles } from "@vidimus/kit/tls/tls-files";
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

it("the certificate that flags name is used", async () => {
  expect(await listTenants(...at(), ...flagsOf(identities.operator))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("demo"),
  });
});

it("the certificate that a profile names is used", async () => {
  const { operator } = identities;
  const file = join(dir, ".config", "vidimus", "profiles.json");
  await mkdir(join(dir, ".config", "vidimus"), { recursive: true });
  const { certFile: cert, keyFile: keyfile, caFile: ca } = operator;
  const profile = { access: stack.dev.grpc.access, cert, keyfile, ca };
  await writeFile(file, JSON.stringify({ stack: profile }), { mode: 0o600 });
  expect(await listTenants("--profile", "stack")).toMatchObject({ code: 0, stdout: expect.stringContaining("demo") });
});

it("a call without a certificate is not answered", async () => {
  expect(await listTenants(...at())).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be reached") });
});

it("a certificate without a grant is refused, and the message names its identity", async () => {
  const nobody = await identities.issue("nobody", ["spiffe://vidimus.localhost/team/nobody"]);
  const stderr = expect.stringMatching(/team\/nobody may not call .*AccessService\/ListTenants: it has no grant/);
  expect(await listTenants(...at(), ...flagsOf(nobody))).toMatchObject({ code: 1, stderr });
});

// Nothing listens there, so a request would fail with another message.
const nowhere = ["--access", "127.0.0.1:1"];

it("a certificate without its key is an error before any request", async () => {
  const half = await listTenants(...nowhere, "--cert", identities.operator.certFile);
  expect(half).toMatchObject({ code: 1, stderr: expect.stringContaining("--keyfile") });
});

it("a certificate with a key that others may read is an error before any request", async () => {
  const open = await identities.issue("open", ["spiffe://vidimus.localhost/operator"]);
  await chmod(open.keyFile, 0o644);
  const stderr = expect.stringContaining("has mode 0644, which lets others at the secret");
  expect(await listTenants(...nowhere, ...flagsOf(open))).toMatchObject({ code: 1, stderr });
});

it("a server whose certificate names another service is not called", async () => {
  const stderr = expect.stringContaining("cannot be reached");
  const target = ["--access", stack.dev.grpc.documents];
  expect(await listTenants(...target, ...flagsOf(identities.operator))).toMatchObject({ code: 1, stderr });
});

it("with --identity-path a server is accepted only when its identity has that path", async () => {
  const files = await identities.issue("placed", ["spiffe://vidimus.localhost/ns/vidimus/sa/gateway"]);
  const certificate = { value: parsePem(readPemFiles(files)), onChange: () => {}, removeListener: () => {} };
  const [log, metrics] = [createLogger("access", "silent"), createMetrics("access")];
  const routes = [partialRoute(AccessService, {})];
  const readiness = new Readiness();
  await using teams = await startTeamsServer({
    routes,
    host: "127.0.0.1",
    port: 0,
    certificate,
    readiness,
    log,
    metrics,
  });
  const teamsAt = ["--access", `127.0.0.1:${teams.port}`, ...flagsOf(identities.operator)];
  const usualAt = [...at(), ...flagsOf(identities.operator)];
  const path = ["--identity-path", "/ns/vidimus/sa/{service}"];
  // The door has no grants, so it refuses a caller who has believed it.
  const reached = { code: 1, stderr: expect.stringContaining("it has no grant") };
  const unreached = { code: 1, stderr: expect.stringContaining("cannot be reached") };
  expect(await listTenants(...teamsAt, ...path)).toMatchObject(reached);
  expect(await listTenants(...teamsAt)).toMatchObject(unreached);
  expect(await listTenants(...usualAt, ...path)).toMatchObject(unreached);
});
