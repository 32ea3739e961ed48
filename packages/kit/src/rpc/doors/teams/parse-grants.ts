import { ConfigError } from "../../../env.ts";
import { tenantIdPattern } from "../../../ids.ts";
import { rolePattern } from "../../context/role-name.ts";
import { isIdentity } from "../../../tls/peer-identity.ts";
import { allTenants, type Grant, type Grants } from "./grants.ts";

type Json = Readonly<Record<string, unknown>>;

const members = ["identity", "tenants", "services", "methods", "roles", "people"] as const;
const servicePattern = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*\.[A-Z]\w*$/;
const methodPattern = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*\.[A-Z]\w*\/[A-Z]\w*$/;

export const grantsBytesMax = 1_048_576;

/**
 * Parses a grants file; `docs/grants.schema.json` is its JSON Schema. A service that this version
 * does not know is accepted, because the file may be newer than the process; `vidimus grants check`
 * refuses it.
 *
 * @throws ConfigError that lists every fault, one a line, with its JSON pointer
 */
export function parseGrants(text: string): Grants {
  const faults: string[] = [];
  const grants = readFile(parseJson(text, faults), faults);
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return grants;
}

function parseJson(text: string, faults: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    faults.push(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function readFile(file: unknown, faults: string[]): Grants {
  const grants = new Map<string, Grant>();
  if (file === undefined) return grants;
  if (!isObject(file) || !Array.isArray(file["grants"])) {
    faults.push('must be an object with a list "grants"');
    return grants;
  }
  for (const key of Object.keys(file)) {
    if (key !== "grants" && key !== "$schema") faults.push(`/${key}: is not known`);
  }
  file["grants"].forEach((entry: unknown, at) => {
    const grant = readGrant(entry, `/grants/${at}`, faults);
    if (grant === undefined) return;
    // With two grants of one identity it would be unclear which of them holds.
    if (grants.has(grant.identity)) faults.push(`/grants/${at}/identity: ${grant.identity} has a grant already`);
    grants.set(grant.identity, grant);
  });
  return grants;
}

function readGrant(entry: unknown, pointer: string, faults: string[]): Grant | undefined {
  if (!isObject(entry)) {
    faults.push(`${pointer}: must be an object`);
    return undefined;
  }
  for (const key of Object.keys(entry)) {
    if (!members.some((member) => member === key)) faults.push(`${pointer}/${key}: is not known`);
  }
  const { identity, people = false } = entry;
  const read = (name: string, isValid: (item: string) => boolean, shape: string) =>
    readList(entry, name, isValid, shape, pointer, faults);
  const tenants = read("tenants", isTenant, 'tenant ids, or "*"');
  const called = readCalled(entry, read);
  if (!called) faults.push(`${pointer}: must have services or methods`);
  const roles = read("roles", (role) => rolePattern.test(role), "roles");
  if (typeof people !== "boolean") faults.push(`${pointer}/people: must be true or false`);
  if (typeof identity !== "string" || !isIdentity(identity)) {
    faults.push(`${pointer}/identity: must be spiffe://<trust domain>/<path>`);
    return undefined;
  }
  return { identity, tenants, ...(called ?? nothing), roles, people: people === true };
}

const nothing: Pick<Grant, "services" | "methods"> = { services: new Set(), methods: new Set() };

function readCalled(
  entry: Json,
  read: (name: string, isValid: (item: string) => boolean, shape: string) => ReadonlySet<string>,
): Pick<Grant, "services" | "methods"> | undefined {
  const [hasServices, hasMethods] = ["services" in entry, "methods" in entry];
  if (!hasServices && !hasMethods) return undefined;
  return {
    services: hasServices ? read("services", (name) => servicePattern.test(name), "full names of services") : new Set(),
    methods: hasMethods ? read("methods", (name) => methodPattern.test(name), "full names of methods") : new Set(),
  };
}

function isTenant(text: string): boolean {
  return text === allTenants || tenantIdPattern.test(text);
}

function readList(
  entry: Json,
  name: string,
  isValid: (item: string) => boolean,
  shape: string,
  pointer: string,
  faults: string[],
): ReadonlySet<string> {
  const list = entry[name];
  const valid = new Set<string>();
  if (!Array.isArray(list)) {
    faults.push(`${pointer}/${name}: must be a list of ${shape}`);
    return valid;
  }
  list.forEach((item: unknown, at) => {
    if (typeof item !== "string" || !isValid(item)) {
      faults.push(`${pointer}/${name}/${at}: must be one of ${shape}, not ${JSON.stringify(item)}`);
    } else if (valid.has(item)) {
      faults.push(`${pointer}/${name}/${at}: "${item}" is named twice`);
    } else {
      valid.add(item);
    }
  });
  return valid;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
