import { broken, type Finding, ok, warning } from "./finding.ts";
import { lacksPatch, unpatchedFault } from "./mongodb-patch.ts";
import { atLeast } from "./version.ts";

const check = "mongodb";
const versionMin = "6.0.0";

/**
 * Checks a MongoDB by its version and by the name of its replica set or cluster, which is undefined
 * for a single mongod.
 */
export function checkMongodbVersion(version: string, name: string | undefined): Finding {
  if (!atLeast(version, versionMin)) {
    return broken(
      check,
      `${version} is older than ${versionMin}`,
      "Upgrade MongoDB; transactions and clocks rely on it.",
    );
  }
  if (!name) {
    return broken(
      check,
      `${version}, no replica set`,
      "Start mongod with --replSet: there are no transactions without.",
    );
  }
  const patch = lacksPatch(version);
  return patch === undefined ? ok(check, `${version}, ${name}`) : warning(check, `${version}, ${name}`, toPatch(patch));
}

function toPatch(patch: string): string {
  return (
    `Upgrade to ${patch} or newer: ${unpatchedFault}. ` +
    "Until then let only the services reach it: docs/kubernetes.md, Tested versions."
  );
}
