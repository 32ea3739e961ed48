import { isRecord } from "../settings/json-file.ts";
import { fetchPage, jsonOf, type Page } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked, warning } from "./finding.ts";
import { atLeast } from "./version.ts";

/** Every service with an ops port, with what mends it when it is not ready. */
const opsServices = ["gateway", "documents", "phrases", "signing", "delivery"] as const;

/** Node of the services; it has the Temporal API that judges timestamps. */
const nodeVersionMin = "26.0.0";

/** Asks each ops port whether its service is ready, what it runs on, and the gateway which contract it serves. */
export async function checkOps(ops: string | undefined): Promise<Finding[]> {
  const urls = new Map((ops ?? "").split(",").map((part) => splitOnce(part)));
  return (await Promise.all(opsServices.map((name) => checkService(name, urls.get(name))))).flat();
}

async function checkService(name: (typeof opsServices)[number], url: string | undefined): Promise<Finding[]> {
  const check = `${name} ops`;
  if (!url) return [unchecked(check, `Name its ops port: --ops ${name}=http://host:port,… or VIDIMUS_OPS.`)];
  const base = url.replace(/\/+$/, "");
  const page = await fetchPage(`${base}/readyz`);
  if (typeof page === "string") {
    const remedy =
      "Is this its OPS_PORT? A service that refuses its settings or an old database ends, and its log says why.";
    return [broken(check, `${base} cannot be reached: ${page}`, remedy)];
  }
  const contract = name === "gateway" ? await checkContract(base) : [];
  return [judgeReady(check, page), ...(await checkNode(name, base)), ...contract];
}

const remedies = new Map([
  ["starting", "It is opening what it needs. If that lasts, its log says what is missing."],
  ["shutting down", "It is being stopped: see who did, or wait for the next one."],
]);

function judgeReady(check: string, page: Page): Finding {
  if (page.status === 200) return ok(check, "ready");
  const body = jsonOf(page);
  const reason = isRecord(body) ? String(body["reason"]) : `/readyz answered ${page.status}`;
  const remedy =
    remedies.get(reason) ?? "It needs this and does not get it: see MONGODB_URL and the log of the service.";
  return broken(check, `not ready: ${reason}`, remedy);
}

/** prom-client tells the version of Node in `nodejs_version_info{version="v26.1.0",…} 1`. */
async function checkNode(name: string, base: string): Promise<Finding[]> {
  const page = await fetchPage(`${base}/metrics`);
  const version =
    typeof page === "string" ? undefined : /^nodejs_version_info\{[^}]*\bversion="v([^"]+)"/m.exec(page.body)?.[1];
  if (version === undefined) return [];
  const check = `${name} node`;
  if (atLeast(version, nodeVersionMin)) return [ok(check, version)];
  return [
    warning(check, `${version} is older than ${nodeVersionMin}`, "Run the services on the pinned Node: package.json."),
  ];
}

async function checkContract(base: string): Promise<Finding[]> {
  const page = await fetchPage(`${base}/openapi.json`);
  const body = typeof page === "string" || page.status !== 200 ? undefined : jsonOf(page);
  const info = isRecord(body) ? body["info"] : undefined;
  return isRecord(info) ? [ok("contract", `revision ${String(info["version"])} of the public API`)] : [];
}

function splitOnce(part: string): [string, string] {
  const at = part.indexOf("=");
  return [part.slice(0, at), part.slice(at + 1)];
}
