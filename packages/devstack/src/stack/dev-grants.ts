import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A grant as the file of grants has it: docs/grants.schema.json. */
interface GrantEntry {
  readonly identity: string;
  readonly services?: readonly string[];
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

/**
 * Writes the grants of a dev stack into a folder. A file that is there may have been edited, or be of
 * an older stack: it keeps what it has, and gets what the operator lacks. One that is no such file is
 * left as it is, and the services say what is wrong with it.
 *
 * @param operator who may do everything
 * @returns the file
 */
export async function writeGrants(dir: string, operator: string): Promise<string> {
  const file = join(dir, "grants.json");
  const own = { identity: operator, tenants: ["*"], services, roles };
  const before = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return JSON.stringify({ grants: [] });
  });
  const kept = parse(before);
  if (!kept) return file;
  const grants = kept.grants.map((grant) => (grant.identity === operator ? completed(grant, own) : grant));
  const isThere = grants.some(({ identity }) => identity === operator);
  const after = `${JSON.stringify({ ...kept, grants: isThere ? grants : [...grants, own] }, null, 2)}\n`;
  if (after !== before) await writeFile(file, after);
  return file;
}

function completed(grant: GrantEntry, own: Required<GrantEntry>): GrantEntry {
  const union = (has: readonly string[] = [], wanted: readonly string[]) => [...new Set([...has, ...wanted])];
  return { ...grant, services: union(grant.services, own.services), roles: union(grant.roles, own.roles) };
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
