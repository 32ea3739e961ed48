/**
 * `npm run test:images [-- --no-build]`: builds the images, looks at the content of each, runs
 * those of the five services with podman as deploy/k8s says (user, read-only root, no capabilities,
 * memory limits, variables) on isolated networks with mTLS, and checks that the demonstration
 * passes, that networks and certificates keep callers from signing, and that SIGTERM drains. Needs
 * root, buildah, podman, runc, netavark, aardvark-dns, iptables and Go.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { demonstrate } from "../demo/demonstrate.ts";
import { buildImages, imageOf } from "./build-images.ts";
import { imagesDir, podman } from "./containers.ts";
import { describePlatform } from "./describe-platform.ts";
import { readManifests } from "./manifest.ts";
import { openPlatform } from "./platform.ts";
import { type Image, images, type Service, services } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");
const rendered = join(imagesDir, "rendered");
const refusedMs = 3_000;

const step = (line: string) => console.log(`\n== ${line}`);

step("build");
if (!process.argv.includes("--no-build")) await buildImages(console.log);
execFileSync("go", ["run", ".", join(root, "deploy/k8s"), rendered], { cwd: join(root, "deploy/check") });
const specOf = await readManifests(join(rendered, "local.json"));

await using stack = new AsyncDisposableStack();
step("start");
const platform = await openPlatform(stack, specOf);
const dev = await describePlatform(platform, specOf);
try {
  await runChecks();
} catch (error) {
  console.error(await platform.recentLogs());
  throw error;
}
console.log("\nall passed");

async function runChecks(): Promise<void> {
  step("the demonstration passes");
  await demonstrate(dev, platform.hostAddress);
  step("who reaches signing");
  await checkReach();
  step("who may call signing");
  await checkCallers();
  step("what is in the images");
  await checkContent();
  step("nothing can be written");
  await checkReadOnly();
  step("SIGTERM drains");
  await checkDrain();
}

async function checkReach(): Promise<void> {
  const { mesh = 0, ops = 0 } = specOf("signing").ports;
  const address = await platform.addressOf("signing");
  for (const service of ["documents", "phrases"] as const) {
    for (const port of [mesh, ops, 7053])
      expectEqual(`${service} → signing ${port}`, await dial(service, address, port), "timeout");
  }
  for (const service of ["gateway", "delivery"] as const) {
    expectEqual(`${service} → signing ${mesh}`, await dial(service, address, mesh), "connected");
  }
}

function dial(service: Service, address: string, port: number): Promise<string> {
  return platform.evaluate(
    service,
    `import { connect } from "node:net";
    const end = (word) => { console.log(word); process.exit(0); };
    connect(${port}, "${address}").on("connect", () => end("connected")).on("error", ({ code }) => end(code));
    setTimeout(end, ${refusedMs}, "timeout");`,
  );
}

/** Each call uses the certificate of the service in whose container it is made. */
async function checkCallers(): Promise<void> {
  const item = `{ tenantId: "demo", documentId: "0190c4a7-0000-7000-8000-000000000000", sequence: 1n, version: 1n,
    status: "usable", sha256: new Uint8Array(32) }`;
  const sign = callSigning("SigningService", "signing_service", `signSnapshots({ items: [${item}] })`);
  const list = callSigning("TrustListService", "trust_list_service", "listKeys({})");
  expectEqual("gateway reads the trust list", await platform.evaluate("gateway", list), "ok");
  expectEqual("gateway asks for a signature", await platform.evaluate("gateway", sign), "PermissionDenied");
  expectEqual("delivery reads the trust list", await platform.evaluate("delivery", list), "ok");
}

function callSigning(service: string, module: string, call: string): string {
  const { mesh = 0 } = specOf("signing").ports;
  return `import { Code, ConnectError } from "@connectrpc/connect";
    import { ${service} } from "@vidimus/contracts/vidimus/signing/v1/${module}";
    import { openRpcClient } from "@vidimus/kit/rpc/client/client";
    import { fileCredentials } from "@vidimus/kit/tls/file-credentials";
    const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CA_FILE: caFile } = process.env;
    const credentials = fileCredentials({ certFile, keyFile, caFile }, "signing");
    const client = openRpcClient(${service}, { target: "dns:///signing:${mesh}", credentials });
    const answer = await client.${call}.then(() => "ok", (error) => Code[ConnectError.from(error).code]);
    console.log(answer);
    process.exit(0);`;
}

/** Checks what scanners read, and the settings of glibc. */
async function checkContent(): Promise<void> {
  const versions = `import { readFileSync } from "node:fs";
    const { components } = JSON.parse(readFileSync("/app/sbom.cdx.json", "utf8"));
    const entry = (name) => readFileSync("/var/lib/dpkg/status.d/" + name, "utf8");
    const installed = (name) => /^Version: (.*)$/m.exec(entry(name))[1];
    const listed = (name) => components.find((each) => each.name === name)?.version;
    const names = ["libc6", "libstdc++6", "libgcc-s1", "libatomic1"];
    console.log(listed("node") === process.versions.node, names.every((name) => installed(name) === listed(name)),
      /^ID=/m.test(readFileSync("/etc/os-release", "utf8")));`;
  const malloc = "console.log(process.env.MALLOC_ARENA_MAX, process.env.MALLOC_MMAP_THRESHOLD_)";
  for (const image of images) {
    expectEqual(`${image} lists Node and its libraries`, await evaluateAlone(image, versions), "true true true");
  }
  for (const service of services) {
    const settings = service === "phrases" ? "2 32768" : "2 131072";
    expectEqual(`${service} sets glibc`, await platform.evaluate(service, malloc), settings);
  }
}

/** Runs a module in a container of the image, without the settings and mounts of its manifest. */
function evaluateAlone(image: Image, module: string): Promise<string> {
  return podman("run", "--rm", "--network", "none", imageOf(image), "--input-type=module", "--eval", module);
}

async function checkReadOnly(): Promise<void> {
  const write = (path: string) =>
    `import { writeFileSync } from "node:fs";
    try { writeFileSync("${path}", ""); console.log("written"); } catch ({ code }) { console.log(code); }`;
  for (const service of services) {
    expectEqual(`${service} writes /app/x`, await platform.evaluate(service, write("/app/x")), "EROFS");
    expectEqual(`${service} writes /tmp/x`, await platform.evaluate(service, write("/tmp/x")), "written");
  }
}

/**
 * A poll that waits when the gateway is stopped gets its answer, and every service exits with 0.
 */
async function checkDrain(): Promise<void> {
  const headers = { authorization: `Bearer ${dev.tenants[0]?.apiKey ?? ""}` };
  const changes = (query: string) => fetch(`${dev.gateway}/v1/publisher/changes?${query}`, { headers });
  const { data } = (await (await changes("limit=200")).json()) as { data: { since: string } };
  const poll = changes(`since=${encodeURIComponent(data.since)}&wait=20`);
  const poll200 = poll.then(
    async (answer) => `${answer.status} ${Object.keys((await answer.json()) as object).join()}`,
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (const service of ["gateway", "delivery", "phrases", "documents", "signing"] as const) {
    const started = performance.now();
    const code = await platform.stop(service);
    expectEqual(
      `${service} ends after ${((performance.now() - started) / 1000).toFixed(1)} s with code`,
      String(code),
      "0",
    );
  }
  expectEqual("the waiting poll", await poll200, "200 ok,data");
}

function expectEqual(what: string, found: string, wanted: string): void {
  console.log(`${found === wanted ? "ok  " : "FAIL"} ${what}: ${found}`);
  if (found !== wanted) throw new Error(`${what}: ${found}, not ${wanted}`);
}
