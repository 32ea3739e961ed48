/**
 * `npm run check:deploy`: checks deploy/k8s without a cluster. Renders every overlay, template
 * and combination, then checks Pod Security, custom resources, NetworkPolicies and conventions
 * (deploy/check), the schemas of three Kubernetes versions, and kube-score.
 *
 * Needs Go and python3 with venv. Installs pinned tools into .vidimus/deploy-check once, from the
 * Go module proxy and PyPI: three to five minutes on two cores, then half a minute.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const kubeScore = "github.com/zegl/kube-score/cmd/kube-score@v1.20.0";
const validator = "kubernetes-validate==1.37.0";
/** The oldest supported version, one between, and the newest. */
const kubernetesVersions = ["1.33", "1.35", "1.37"];

const waivers = [
  // A CPU limit throttles a service while cores of its node are idle.
  "--ignore-container-cpu-limit",
  // Deployed images are pinned by digest, so pulling again would fetch the same bytes.
  "--ignore-test",
  "container-image-pull-policy",
];

const root = join(import.meta.dirname, "..");
const tools = join(root, ".vidimus/deploy-check");
const rendered = join(tools, "rendered");
const checker = join(root, "deploy/check");

await mkdir(tools, { recursive: true });
await step("tests of deploy/check", () => run("go", ["test", "./..."], { cwd: checker }));
await step("deploy/check", checkManifests);
const files = (await readdir(rendered)).filter((file) => file.endsWith(".yaml")).map((file) => join(rendered, file));
await step(`schemas of Kubernetes ${kubernetesVersions.join(", ")}`, checkSchemas);
await step("kube-score", score);

async function checkManifests(): Promise<void> {
  await rm(rendered, { recursive: true, force: true });
  await run("go", ["run", ".", join(root, "deploy/k8s"), rendered], { cwd: checker });
}

/** The validator has no schemas of custom resources, so those are left to deploy/check. */
async function checkSchemas(): Promise<void> {
  const venv = join(tools, "venv");
  const program = join(venv, "bin/kubernetes-validate");
  if (!existsSync(program)) {
    await run("python3", ["-m", "venv", venv]);
    await run(join(venv, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", validator]);
  }
  const options = ["--strict", "--quiet", "--no-warn"];
  await Promise.all(kubernetesVersions.map((version) => run(program, ["-k", version, ...options, ...files])));
}

async function score(): Promise<void> {
  const program = join(tools, "bin/kube-score");
  if (!existsSync(program)) await run("go", ["install", kubeScore], { env: { GOBIN: join(tools, "bin") } });
  // One file at a time, because kube-score would take objects of two overlays for one deployment.
  for (const file of files) await run(program, ["score", ...waivers, "--output-format", "ci", file], { quiet: true });
}

async function step(name: string, work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  await work();
  console.log(`ok   ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Prints the program's standard output only when it fails. */
  readonly quiet?: boolean;
}

/** @throws Error when the program cannot start or fails */
async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<void> {
  const { cwd = root, env = {}, quiet = false } = options;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", quiet ? "pipe" : "inherit", "inherit"],
  });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return;
  console.error(output);
  throw new Error(`${program} ${args.join(" ")} failed`);
}
