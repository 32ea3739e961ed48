import { ConfigError } from "@vidimus/kit/env";
import { tenantIdPattern } from "@vidimus/kit/ids";
import { rolePattern } from "@vidimus/kit/rpc/context/role-name";

/** Which groups of the issuer give which roles. */
export interface GroupRules {
  /** Name of the claim, of the ID token or the user information, that lists a person's groups. */
  readonly claim: string;
  readonly rules: readonly GroupRule[];
}

interface GroupRule {
  readonly group: string;
  readonly tenant: string;
  readonly roles: readonly string[];
}

type RolesByTenant = ReadonlyMap<string, readonly string[]>;

/**
 * Parses the file of CONSOLE_OIDC_GROUPS: `{"claim": "groups", "rules": [{"group": "desk",
 * "tenant": "demo", "roles": ["editor"]}]}`. A file without `claim` means the claim `groups`.
 *
 * @throws ConfigError that lists every fault, one a line, with its JSON pointer
 */
export function parseGroupRules(text: string): GroupRules {
  const faults: string[] = [];
  const file = parseJson(text, faults);
  const { claim = "groups", rules } = isObject(file) ? file : {};
  if (faults.length === 0 && !Array.isArray(rules)) faults.push('must be an object with a list "rules"');
  if (typeof claim !== "string" || claim === "") faults.push("/claim: must be the name of a claim");
  const read = Array.isArray(rules) ? rules.map((rule, at) => readRule(rule, `/rules/${at}`, faults)) : [];
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return { claim: String(claim), rules: read };
}

/**
 * The roles that groups give, in each tenant that a rule names; an empty list for a tenant in which
 * no group matches.
 */
export function rolesOfGroups({ rules }: GroupRules, groups: readonly string[]): RolesByTenant {
  const roles = new Map<string, readonly string[]>();
  for (const rule of rules) {
    const earlier = roles.get(rule.tenant) ?? [];
    const given = groups.includes(rule.group) ? rule.roles : [];
    roles.set(rule.tenant, [...new Set([...earlier, ...given])]);
  }
  return roles;
}

function readRule(entry: unknown, pointer: string, faults: string[]): GroupRule {
  const { group, tenant, roles, ...others } = isObject(entry) ? entry : {};
  for (const key of Object.keys(others)) faults.push(`${pointer}/${key}: is not known`);
  if (typeof group !== "string" || group === "") faults.push(`${pointer}/group: must be the name of a group`);
  if (typeof tenant !== "string" || !tenantIdPattern.test(tenant))
    faults.push(`${pointer}/tenant: must be a tenant id`);
  const names = Array.isArray(roles) ? roles.filter((role) => typeof role === "string" && rolePattern.test(role)) : [];
  if (!Array.isArray(roles) || roles.length === 0 || names.length < roles.length) {
    faults.push(`${pointer}/roles: must be a list of roles`);
  }
  return { group: String(group), tenant: String(tenant), roles: names.map(String) };
}

function parseJson(text: string, faults: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    faults.push(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
