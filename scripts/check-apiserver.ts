/**
 * `npm run check:apiserver`: applies every overlay, template and combination of deploy/k8s to
 * a kube-apiserver and creates a Pod of each workload, which Pod Security must admit, both as
 * server-side dry runs. No controller manager and no kubelet runs, so nothing is scheduled, probed
 * or connected.
 *
 * Needs Go and kubectl. Builds etcd and kube-apiserver from deploy/apiserver/go.mod into
 * .vidimus/apiserver once: 5 minutes of two cores, 3 GB of memory, 2 GB of modules. Not part of CI.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startChild } from "@vidimus/devstack/child";
import { pickFreePort } from "@vidimus/devstack/port-guard";

const version = "1.36.3";
const root = join(import.meta.dirname, "..");
const tools = join(root, ".vidimus/apiserver", version);
const rendered = join(tools, "rendered");
const readyMs = 120_000;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: { readonly template?: { readonly metadata: { labels: object }; readonly spec: object } };
}

await using stack = new AsyncDisposableStack();
await mkdir(tools, { recursive: true });
build();
execFileSync("go", ["run", ".", join(root, "deploy/k8s"), rendered], {
  cwd: join(root, "deploy/check"),
  stdio: "inherit",
});
const kubeconfig = await openApiServer();
define();
let faults = 0;
for (const file of (await readdir(rendered)).filter((name) => name.endsWith(".json")))
  await check(join(rendered, file));
checkAdmission();
if (faults > 0) process.exitCode = 1;

function build(): void {
  if (existsSync(join(tools, "kube-apiserver")) && existsSync(join(tools, "etcd"))) return;
  const [major = "", minor = ""] = version.split(".");
  const names = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor };
  const set = Object.entries(names).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const compile = (output: string, program: string) =>
    execFileSync(
      "go",
      ["build", "-trimpath", "-ldflags", `-s -w ${set.join(" ")}`, "-o", join(tools, output), program],
      {
        cwd: join(root, "deploy/apiserver"),
        stdio: "inherit",
      },
    );
  compile("etcd", "go.etcd.io/etcd/server/v3");
  compile("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver");
}

/** Starts etcd and an API server on loopback. Returns the path of a kubeconfig with every right. */
async function openApiServer(): Promise<string> {
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), "vidimus-apiserver-")), (path) => rm(path, { recursive: true }));
  const [client, peer, port] = [await pickFreePort(), await pickFreePort(), await pickFreePort()];
  const run = async (program: string, ...args: readonly string[]) => {
    const logFile = join(tools, `${program}.log`);
    const child = await startChild({ command: join(tools, program), args, logFile });
    stack.defer(async () => void (await child.stop(10_000)));
  };
  const at = (number: number) => `http://127.0.0.1:${number}`;
  const clients = ["--listen-client-urls", at(client), "--advertise-client-urls", at(client)];
  const peers = ["--listen-peer-urls", at(peer), "--initial-advertise-peer-urls", at(peer)];
  const members = ["--initial-cluster", `default=${at(peer)}`];
  await run("etcd", "--data-dir", join(dir, "etcd"), "--unsafe-no-fsync", ...clients, ...peers, ...members);
  const keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  await writeFile(join(dir, "sa.key"), keys.privateKey.export({ type: "pkcs1", format: "pem" }));
  await writeFile(join(dir, "sa.pub"), keys.publicKey.export({ type: "spki", format: "pem" }));
  await writeFile(join(dir, "tokens"), `check,check,check,"system:masters"\n`);
  const accounts = ["--service-account-issuer=https://localhost", `--service-account-key-file=${join(dir, "sa.pub")}`];
  await run(
    "kube-apiserver",
    `--etcd-servers=${at(client)}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(dir, "certificates")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    // Clusters set this, too. Without it the API server refuses privileged Pods before Pod Security
    // sees them.
    "--allow-privileged=true",
    ...accounts,
    `--service-account-signing-key-file=${join(dir, "sa.key")}`,
    "--authorization-mode=RBAC",
    `--token-auth-file=${join(dir, "tokens")}`,
    // Disabled, because a dry run does not create the accounts of the Pods.
    "--disable-admission-plugins=ServiceAccount",
  );
  const cluster = { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "check", cluster }],
    users: [{ name: "check", user: { token: "check" } }],
    contexts: [{ name: "check", context: { cluster: "check", user: "check" } }],
    "current-context": "check",
  };
  const path = join(dir, "kubeconfig");
  await writeFile(path, JSON.stringify(config));
  const deadline = AbortSignal.timeout(readyMs);
  while (spawnSync("kubectl", ["--kubeconfig", path, "get", "--raw", "/readyz"]).status !== 0) {
    if (deadline.aborted) throw new Error(`the API server is not ready; see ${tools}/kube-apiserver.log`);
    await pause(500);
  }
  return path;
}

function kubectl(manifest: object | undefined, ...args: readonly string[]): { ok: boolean; said: string } {
  const input = manifest === undefined ? "" : JSON.stringify(manifest);
  const { status, stdout, stderr } = spawnSync("kubectl", ["--kubeconfig", kubeconfig, ...args], {
    input,
    encoding: "utf8",
  });
  return { ok: status === 0, said: `${stdout}${stderr}`.trim() };
}

function define(): void {
  const crds = join(rendered, "crds");
  expect(kubectl(undefined, "apply", "--server-side", "-f", crds), "definitions of custom resources");
  expect(kubectl(undefined, "wait", "--for=condition=Established", "--timeout=60s", "-f", crds), "are established");
}

async function check(file: string): Promise<void> {
  const name = basename(file, ".json");
  const manifests = JSON.parse(await readFile(file, "utf8")) as Manifest[];
  const namespace = manifests.find(({ kind }) => kind === "Namespace");
  expect(kubectl(namespace, "apply", "--server-side", "--force-conflicts", "-f", "-"), `${name}: the namespace`, true);
  const list = { apiVersion: "v1", kind: "List", items: manifests };
  const applied = kubectl(list, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-");
  expect(applied, `${name}: ${manifests.length} objects are applied`, true);
  let pods = 0;
  for (const { kind, metadata, spec } of manifests) {
    if (!spec?.template || !["Deployment", "StatefulSet", "Job"].includes(kind)) continue;
    const { metadata: podMetadata, spec: pod } = spec.template;
    // No controller runs that would make the Pod, so it is made here from the template.
    const filled = kind === "StatefulSet" ? withoutClaims(pod) : pod;
    const { name: podName, namespace } = metadata;
    const named = { name: podName, namespace, ...podMetadata };
    const manifest = { apiVersion: "v1", kind: "Pod", metadata: named, spec: filled };
    const created = kubectl(manifest, "create", "--dry-run=server", "-f", "-");
    expect(created, `${name}: a Pod of ${kind}/${metadata.name} is admitted`, true);
    pods += 1;
  }
  console.log(`ok   ${name}: ${manifests.length} objects applied, ${pods} Pods admitted`);
}

/** Adds an empty volume for the claim `data`, which only a StatefulSet's controller adds. */
function withoutClaims(pod: object): object {
  const { volumes = [] } = pod as { volumes?: object[] };
  return { ...pod, volumes: [...volumes, { name: "data", emptyDir: {} }] };
}

/** Without Pod Security every valid Pod would be admitted, so admission would prove nothing. */
function checkAdmission(): void {
  const container = { name: "root", image: "x", securityContext: { privileged: true } };
  const manifest = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "root", namespace: "vidimus" },
    spec: { containers: [container] },
  };
  const { ok, said } = kubectl(manifest, "create", "--dry-run=server", "-f", "-");
  const refused = !ok && said.includes('violates PodSecurity "restricted');
  expect({ ok: refused, said }, "a privileged Pod is refused");
}

function expect({ ok, said }: { ok: boolean; said: string }, what: string, quiet = false): void {
  if (ok && !quiet) console.log(`ok   ${what}`);
  if (ok) return;
  faults += 1;
  console.log(`FAIL ${what}\n${said}`);
}
