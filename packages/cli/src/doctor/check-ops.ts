import { isJsonObject } from "../json-object.ts";
import { addressesIn } from "./addresses-in.ts";
import { fetchPage, jsonOf, type Page } from "./fetch-page.ts";
import { broken, type Finding, ok, unchecked, warning } from "./finding.ts";
import { atLeast } from "./version.ts";

/** Services of every deployment. The console is checked only when its port was given. */
const opsServices = ["gateway", "documents", "phrases", "signing", "delivery"] as const;

/** Services parse timestamps with the Temporal API, which Node has from this version on. */
const nodeVersionMin = "26.0.0";

/**
 * Reads readiness and Node's version from each ops port, and the revision of the public API from
 * the gateway's.
 */
export async function checkOps(ops: string | undefined): Promise<Finding[]> {
  const urls = addressesIn(ops);
  const names = urls.has("console") ? [...opsServices, "console"] : opsServices;
  return (await Promise.all(names.map((name) => checkService(name, urls.get(name))))).flat();
}

async function checkService(name: string, url: string | undefined): Promise<Finding[]> {
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
  return [checkReady(check, page), ...(await checkNode(name, base)), ...contract];
}

const remedies = new Map([
  ["starting", "It is opening what it needs. If that lasts, its log says what is missing."],
  ["shutting down", "It is being stopped: see who did, or wait for the next one."],
]);

function checkReady(check: string, page: Page): Finding {
  const body = jsonOf(page);
  if (page.status === 200)
    return isJsonObject(body) && body["degraded"] !== undefined ? toDegraded(check, body) : ok(check, "ready");
  const reason = isJsonObject(body) ? String(body["reason"]) : `/readyz answered ${page.status}`;
  return broken(check, `not ready: ${reason}`, remedies.get(reason) ?? remedyOf(reason));
}

const ringRemedy =
  "Nothing is signed, and webhooks wait. Find out who wrote to the database of signing, and restore the newest key ring.";

function remedyOf(reason: string): string {
  if (/key ring/.test(reason)) return ringRemedy;
  return "It needs this and does not get it: see MONGODB_URL and the log of the service.";
}

const brokerRemedy =
  "Nothing is lost, but messages of the broker come late: see NATS_URL, the broker and this service's log.";
const tenantsRemedy =
  "Internal teams get UNAVAILABLE until a gateway answers: see ACCESS_TARGET, the gateway and this service's log.";

/** A degraded service is ready and keeps its traffic, but it is late or refuses some calls. */
function toDegraded(check: string, body: Readonly<Record<string, unknown>>): Finding {
  const reason = String(body["degraded"]);
  return broken(check, `degraded: ${reason}`, reason.includes("tenants") ? tenantsRemedy : brokerRemedy);
}

/** Reads the version of Node from the metric `nodejs_version_info{version="v26.1.0",…} 1`. */
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
  const info = isJsonObject(body) ? body["info"] : undefined;
  return isJsonObject(info) ? [ok("contract", `revision ${String(info["version"])} of the public API`)] : [];
}
