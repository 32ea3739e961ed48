import type { KeyRing } from "./key-ring.ts";
import { type Ledger, type LedgerEntry, snapshotKeyOf } from "./ledger.ts";
import { checkSignature } from "./standing-signature.ts";
import { parseStatement } from "./statement.ts";

interface RefusedSignature {
  readonly snapshotKey: string;
  readonly reason: string;
}

interface Adoption {
  readonly adopted: number;
  /** Number of signatures that the ledger had already. */
  readonly known: number;
  readonly refused: readonly RefusedSignature[];
}

interface AdoptDeps {
  readonly ledger: Ledger & {
    /** All entries of each snapshot; a snapshot without one is left out. */
    entriesOf(snapshotKeys: readonly string[]): Promise<Map<string, LedgerEntry[]>>;
  };
  readonly ring: KeyRing;
}

const chunkMax = 256;

/**
 * Adds the signatures that documents holds to a ledger that was restored from a backup. Otherwise
 * the snapshots would be signed a second time, and receivers would get other bytes under the same
 * `webhook-id`. A signature is accepted only if a key of the ring made it, and every other
 * signature of the snapshot in the ledger is by a revoked key. It keeps the signing number that
 * documents has, unless the ledger has that number or a higher one; then it gets the next one. May
 * be repeated: known signatures stay as they are.
 */
export async function adoptSignatures(deps: AdoptDeps, held: AsyncIterable<LedgerEntry>): Promise<Adoption> {
  const sum = { adopted: 0, known: 0, refused: new Array<RefusedSignature>() };
  const adopt = async (chunk: readonly LedgerEntry[]) => {
    const { adopted, known, refused } = await adoptChunk(deps, chunk);
    sum.adopted += adopted;
    sum.known += known;
    sum.refused.push(...refused);
  };
  let chunk: LedgerEntry[] = [];
  for await (const each of held) {
    chunk.push(each);
    if (chunk.length < chunkMax) continue;
    await adopt(chunk);
    chunk = [];
  }
  if (chunk.length > 0) await adopt(chunk);
  return sum;
}

async function adoptChunk({ ledger, ring }: AdoptDeps, chunk: readonly LedgerEntry[]): Promise<Adoption> {
  const standing = await ledger.entriesOf(chunk.map(({ snapshotKey }) => snapshotKey));
  const entriesOf = ({ snapshotKey }: LedgerEntry) => standing.get(snapshotKey) ?? [];
  const fresh: LedgerEntry[] = [];
  const known: LedgerEntry[] = [];
  const refused: RefusedSignature[] = [];
  for (const each of chunk) {
    const entries = entriesOf(each);
    if (entries.some((entry) => isSame(entry, each))) {
      known.push(each);
      continue;
    }
    const reason = refusal(each, entries, ring);
    if (reason !== undefined) refused.push({ snapshotKey: each.snapshotKey, reason });
    else fresh.push({ ...each, signing: Math.max(each.signing, ...entries.map(({ signing }) => signing + 1)) });
  }
  // `signDigests` begins with number 1, and only the ledger's entry with that number stops it from
  // signing the snapshot anew. So a signature with a higher number is stored as number 1, too, when
  // the ledger has no entry with number 1.
  const lacksFirst = (each: LedgerEntry) => each.signing > 1 && !entriesOf(each).some(({ signing }) => signing === 1);
  const firsts = [...known, ...fresh].filter(lacksFirst).map((each) => Object.assign({}, each, { signing: 1 }));
  for (const entries of [fresh, firsts]) if (entries.length > 0) await ledger.record(entries, ring.revision);
  return { adopted: fresh.length, known: known.length, refused };
}

/** Why a signature must not be added to the ledger; undefined when it may. */
function refusal(held: LedgerEntry, entries: readonly LedgerEntry[], ring: KeyRing): string | undefined {
  if (checkSignature(held, ring).kind === "forged") {
    return "no key of the restored ring made the signature that documents holds";
  }
  const stands = entries.some((entry) => checkSignature(entry, ring).kind !== "revoked");
  return stands ? "the ledger holds another signature than documents" : undefined;
}

function isSame({ statement, value }: LedgerEntry, other: LedgerEntry): boolean {
  return statement === other.statement && Buffer.compare(value, other.value) === 0;
}

/**
 * Reads a line that documents' restore command printed.
 *
 * @throws TypeError when it is malformed
 */
export function toHeldSignature(line: unknown): LedgerEntry {
  const isKey = (each: object) => "tenantId" in each && "documentId" in each && "sequence" in each;
  if (typeof line === "object" && line !== null && isKey(line) && "statement" in line && "value" in line) {
    const { statement, value } = line;
    const signing = "signingNumber" in line ? Number(line.signingNumber) : 0;
    const stated = typeof statement === "string" ? parseStatement(statement) : undefined;
    if (typeof statement === "string" && stated && typeof value === "string" && signing >= 1) {
      return { snapshotKey: snapshotKeyOf(stated), signing, statement, value: Buffer.from(value, "base64") };
    }
  }
  throw new TypeError(`stdin holds no signature: ${JSON.stringify(line)}`);
}
