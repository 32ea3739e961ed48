import { serviceIdentity } from "@vidimus/kit/tls/peer-identity";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectDir } from "../paths.ts";

/** The parts of a grant that are read here; docs/grants.schema.json has all. */
interface GrantEntry {
  readonly identity: string;
  readonly services?: readonly string[];
  readonly methods?: readonly string[];
  readonly roles?: readonly string[];
}

interface GrantsFile {
  readonly grants: readonly GrantEntry[];
}

const services = [
  "vidimus.access.v1.AccessService",
  "vidimus.access.v1.MemberService",
  "vidimus.documents.v1.DocumentService",
  "vidimus.documents.v1.SchemaService",
  "vidimus.documents.v1.WorkflowService",
  "vidimus.phrases.v1.PhraseService",
  "vidimus.delivery.v1.EndpointService",
  "vidimus.delivery.v1.DeliveryLogService",
  "vidimus.signing.v1.KeyAdminService",
];
const roles = ["owner", "admin", "chief", "editor", "writer", "legal", "system", "integrator"];

/** The grant of the console; the same file is used in a cluster. */
const consoleGrantFile = join(projectDir, "deploy/k8s/components/console/grant.json");

/**
 * Writes the grants of a dev stack into a folder. An existing file may have been edited, or belong
 * to an older stack: its grants are kept, and services, methods and roles that the operator and the
 * console lack are added. A malformed file is not changed, and the services report its faults.
 *
 * @param operator name of the identity that gets all `services` and `roles` in every tenant
 * @returns the path of the file
 */
export async function writeGrants(dir: string, trustDomain: string, operator: string): Promise<string> {
  const file = join(dir, "grants.json");
  const own = [
    { identity: serviceIdentity(trustDomain, operator), tenants: ["*"], services, roles },
    ...(await consoleGrants(serviceIdentity(trustDomain, "console"))),
  ];
  const before = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return JSON.stringify({ grants: [] });
  });
  const kept = parse(before);
  if (!kept) return file;
  const grants = own.reduce(withGrant, kept.grants);
  const after = `${JSON.stringify({ ...kept, grants }, null, 2)}\n`;
  if (after !== before) await writeFile(file, after, { mode: 0o644 });
  return file;
}

async function consoleGrants(identity: string): Promise<GrantEntry[]> {
  const { grants } = JSON.parse(await readFile(consoleGrantFile, "utf8")) as GrantsFile;
  return Array.from(grants, (grant) => ({ ...grant, identity }));
}

/** Adds a grant, or its services, methods and roles to the grant that its identity has. */
function withGrant(grants: readonly GrantEntry[], own: GrantEntry): readonly GrantEntry[] {
  if (!grants.some(({ identity }) => identity === own.identity)) return [...grants, own];
  return grants.map((grant) => (grant.identity === own.identity ? completed(grant, own) : grant));
}

function completed(grant: GrantEntry, own: GrantEntry): GrantEntry {
  const lists = (["services", "methods", "roles"] as const).flatMap((name) => {
    const all = [...new Set([...(grant[name] ?? []), ...(own[name] ?? [])])];
    return all.length > 0 ? [[name, all] as const] : [];
  });
  return { ...grant, ...Object.fromEntries(lists) };
}

/** Undefined when the text is not that of a file of grants. */
function parse(text: string): GrantsFile | undefined {
  try {
    const { grants } = JSON.parse(text) as Partial<Record<string, unknown>>;
    const isGrants = Array.isArray(grants) && grants.every((each) => typeof each === "object" && each !== null);
    return isGrants ? (JSON.parse(text) as GrantsFile) : undefined;
  } catch {
    return undefined;
  }
}
