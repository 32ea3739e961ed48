import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesOf } from "./tree.ts";

/** Names that operators and other programs rely on, by kind; sorted, without duplicates. */
export type Names = Readonly<Record<string, readonly string[]>>;

/**
 * Reads the names from the sources of a folder, in any file. It reads text, not values: a computed
 * name is compared as it is written.
 */
export function readNames(dir: string): Names {
  const files = filesOf(dir);
  const sources = files.filter((file) => /^(packages|services)\/.*\/src\/.*\.ts$/.test(file) && !isTest(file));
  const texts = sources.map((file) => readFileSync(join(dir, file), "utf8"));
  const find = (pattern: RegExp) =>
    sorted(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name)));
  const users = texts.filter((text) => text.includes('role: "readWrite"'));
  const routes = texts.filter((text) => /\b(mesh|teams)Route\(/.test(text));
  return {
    metrics: find(/["'`](vidimus_[\w${}]*)["'`]/g),
    labels: find(/labelNames: (\[[^\]]*\])/g),
    logs: sorted(texts.flatMap(logLines)),
    // Quoted words in capitals: with `_` everywhere, without it only as the argument of `env.…(`.
    environment: find(/(?:["'`](?=\w+_)|\benv\.\w+\(")([A-Z][A-Z0-9]*(?:_[A-Z0-9${}]+)*)["'`]/g),
    databaseRoles: sorted(users.flatMap(rights)),
    doors: sorted(routes.flatMap(rows)),
    contracts: sorted(files.filter(isContract).map((file) => `${file} ${hash(join(dir, file))}`)),
  };
}

const isTest = (file: string) => /\.test\.ts$|\/testing\//.test(file);

/** The RPC contract, the public API, the form of grants and the permissions at the broker. */
const isContract = (file: string) =>
  /^proto\/|^docs\/(openapi|grants\.schema)\.json$|^deploy\/k8s\/components\/nats\/.*\.conf$/.test(file);

/** The callers of a method of a mesh door, or the effect of a method of a teams door. */
function rows(text: string): string[] {
  return [...text.matchAll(/\b(\w+): (\[(?:"\w+"(?:, )?)*\]|"(?:read|write|platform|tenantless)")/g)].map(
    ([, method, row]) => `${method} ${row}`,
  );
}

/** The expressions that set the actions, privileges and roles of database users. */
function rights(text: string): string[] {
  return [...text.matchAll(/\b(?:actions = |privileges: |roles: |role: |ensureUser\()(?:\[[^\]]*\]|[^;]*)/g)].map(
    ([right]) => right,
  );
}

/** Level, fields and message of each log line. Computed arguments stay as they are written. */
function logLines(text: string): string[] {
  return [...text.matchAll(/\blog(?:\.(debug|info|warn|error|fatal)|\[(\w+)\])\(/g)].map((call) => {
    const level = call[1] ?? call[2];
    const args = bracketed(text, call.index + call[0].length - 1);
    if (!/^[{"'`]/.test(args)) return `${level} ${args}`;
    const object = args.startsWith("{") ? bracketed(args, 0) : "";
    const rest = object === "" ? args : args.slice(object.length + 2).replace(/^[\s},]*/, "");
    const message = /["'`]([^"'`]*)["'`]/.exec(rest)?.[1] ?? rest;
    return `${level} {${fieldsOf(object).join(", ")}} ${message}`;
  });
}

/** Names of the members of an object literal. */
function fieldsOf(inner: string): string[] {
  const members: string[] = [];
  let depth = 0;
  let member = "";
  for (const char of `${inner},`) {
    if ("([{".includes(char)) depth += 1;
    if (")]}".includes(char)) depth -= 1;
    if (char !== "," || depth > 0) member += char;
    else {
      members.push(member.trim());
      member = "";
    }
  }
  return members.filter(Boolean).map((member) => /^(\w+|\.\.\.[\w.]+)/.exec(member)?.[1] ?? member);
}

/** The text between the bracket at `start` and its closing bracket. */
function bracketed(text: string, start: number): string {
  let depth = 0;
  for (let end = start; end < text.length; end += 1) {
    if ("([{".includes(text[end] ?? "")) depth += 1;
    if (")]}".includes(text[end] ?? "")) depth -= 1;
    if (depth === 0) return text.slice(start + 1, end).trim();
  }
  return "";
}

function sorted(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.map((name) => (name ?? "").replaceAll(/\s+/g, " ")))].sort();
}

function hash(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16);
}
