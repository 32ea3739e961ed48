/**
 * Compares names with those of a commit: metrics, their labels, log lines, environment variables,
 * roles of the databases, callers of methods, contracts. `npm run guard:names -- COMMIT` prints
 * what is missing or new, and fails when anything is; without a commit it prints all names.
 */
import { type Names, readNames } from "./read-names.ts";
import { here, openTree } from "./tree.ts";

const [ref] = process.argv.slice(2);
const after = readNames(here);
if (ref === undefined) console.log(JSON.stringify(after, undefined, 2));
else {
  using tree = openTree(ref);
  const before = readNames(tree.dir);
  const changes = [...difference("-", before, after), ...difference("+", after, before)];
  for (const [kind, names] of Object.entries(after))
    console.log(`${kind}: ${before[kind]?.length ?? 0} before, ${names.length} after`);
  for (const change of changes) console.error(change);
  if (changes.length > 0) process.exitCode = 1;
}

function difference(sign: string, of: Names, others: Names): string[] {
  return Object.entries(of).flatMap(([kind, names]) =>
    names.filter((name) => !others[kind]?.includes(name)).map((name) => `${sign} ${kind}: ${name}`),
  );
}
