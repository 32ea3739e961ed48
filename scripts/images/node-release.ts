import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** A release of Node for one architecture, with its archive's entry in SHASUMS256.txt. */
export interface NodeRelease {
  readonly version: string;
  readonly archive: string;
  readonly archiveSha256: string;
  /** Checksum of `bin/node` in that archive. */
  readonly nodeSha256: string;
}

type ReleaseFile = Readonly<Partial<Record<string, Omit<NodeRelease, "version">>>>;

const file = join(import.meta.dirname, "../../deploy/images/node.json");

/** @throws Error for an architecture whose checksums are not in deploy/images/node.json */
export function nodeReleaseFor(architecture: string): NodeRelease {
  const { version, ...releases } = JSON.parse(readFileSync(file, "utf8")) as ReleaseFile & { version: string };
  const release = releases[architecture];
  if (!release) throw new Error(`deploy/images/node.json has no checksums of Node for ${architecture}`);
  return { version, ...release };
}

/**
 * Refuses a Node that is not the program of the official release.
 *
 * @throws Error naming both checksums
 */
export async function checkNode(program: string, { version, archive, nodeSha256 }: NodeRelease): Promise<void> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(program), hash);
  const found = hash.digest("hex");
  if (found === nodeSha256) return;
  throw new Error(`${program} has SHA-256 ${found}; that of Node ${version} in ${archive} is ${nodeSha256}`);
}
