/**
 * `npm run check:alerts`: checks the alert rules and the dashboard of
 * deploy/k8s/components/observability with promtool: every expression parses, and alerts fire and
 * stay silent on the series of deploy/observability/alerts.test.yaml as that file says.
 *
 * Takes promtool from the PATH, else from the Debian package `prometheus`, which is unpacked into
 * .vidimus/alert-check and not installed.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const root = join(import.meta.dirname, "..");
const component = join(root, "deploy/k8s/components/observability");
const work = join(root, ".vidimus/alert-check");
mkdirSync(work, { recursive: true });

writeFileSync(join(work, "rules.yaml"), ruleGroups(readFileSync(join(component, "alerts.yaml"), "utf8")));
writeFileSync(join(work, "panels.yaml"), panelRules(readFileSync(join(component, "dashboard.json"), "utf8")));
copyFileSync(join(root, "deploy/observability/alerts.test.yaml"), join(work, "alerts.test.yaml"));
const promtool = findPromtool();
for (const args of [
  ["check", "rules", "rules.yaml", "panels.yaml"],
  ["test", "rules", "alerts.test.yaml"],
]) {
  if (!run(promtool, args)) process.exitCode = 1;
}

/** The groups of a PrometheusRule as a file of rules. */
function ruleGroups(resource: string): string {
  const [, spec] = resource.split("\nspec:\n");
  if (spec === undefined) throw new Error("alerts.yaml has no spec");
  return spec.replaceAll(/^ {2}/gm, "");
}

/** The queries of a dashboard as recording rules for promtool, in JSON, which is valid YAML. */
function panelRules(text: string): string {
  const { panels } = JSON.parse(text) as Dashboard;
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const rules = queries.map((expr, index) => ({
    record: `panel:query:${index}`,
    // Grafana replaces this variable; promtool cannot parse it, and any range will do here.
    expr: expr.replaceAll("$__rate_interval", "5m"),
  }));
  return JSON.stringify({ groups: [{ name: "panels", rules }] });
}

function findPromtool(): string {
  if (spawnSync("promtool", ["--version"]).status === 0) return "promtool";
  const unpacked = join(work, "prometheus/usr/bin/promtool");
  if (existsSync(unpacked)) return unpacked;
  if (!run("apt-get", ["download", "prometheus"])) {
    throw new Error("promtool is needed: put it on the PATH, or apt-get update, so that Debian's package can be had");
  }
  const deb = readdirSync(work).find((file) => file.endsWith(".deb"));
  if (!run("dpkg", ["-x", deb ?? "", "prometheus"])) throw new Error("the package cannot be unpacked");
  return unpacked;
}

function run(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { cwd: work, stdio: "inherit" }).status === 0;
}
