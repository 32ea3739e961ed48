/** Section 4.3: the version read. Its bytes are exactly the signed ones. */
import { createHash, createPublicKey, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { refusal } from "../support/answers.ts";
import type { Newsroom } from "../support/newsroom.ts";
import { draftOf, edit, publish, type PublishedJson, read, readDocument, transition } from "../support/site-reader.ts";
import { openTenants, type Tenants } from "../support/tenants.ts";
import { type SharedConstellation, sharedConstellation } from "../support/shared-constellation.ts";

interface Snapshot {
  readonly sequence: number;
  readonly status: string;
  readonly bytes: string;
  readonly sha256: string;
  readonly signature: { keyId: string; algorithm: string; statement: string; value: string } | null;
}

interface Version {
  readonly version: { readonly version: number; readonly document: PublishedJson; readonly snapshots: Snapshot[] };
}

interface Versions {
  readonly versions: { version: number; sequence: number; updated_at: string; sha256: string }[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

let stack: SharedConstellation;
let tenants: Tenants;
let room: Newsroom;

beforeAll(async () => {
  stack = await sharedConstellation();
  tenants = openTenants(stack.dev);
  room = await tenants.create();
});

afterAll(async () => {
  tenants?.[Symbol.dispose]();
});

const readVersion = async (id: string, version: number) =>
  (await read<Version>(room, `/documents/${id}/versions/${version}`)).version;

/** Waits until each snapshot of the version is signed. */
const signedVersion = (id: string, version: number) =>
  vi.waitFor(
    async () => {
      const found = await readVersion(id, version);
      expect(found.snapshots.every(({ signature }) => signature !== null)).toBe(true);
      return found;
    },
    { timeout: 20_000, interval: 20 },
  );

const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/**
 * Verifies as documented for integrators: the statement by the key, the bytes by the statement's
 * last line.
 */
async function isGenuine({ bytes, signature }: Snapshot): Promise<boolean> {
  const { keys } = (await (await fetch(`${stack.dev.gateway}/api/keys`)).json()) as {
    keys: { keyId: string; publicKey: string }[];
  };
  const trusted = keys.find(({ keyId }) => keyId === signature?.keyId);
  if (!trusted || !signature) return false;
  const key = createPublicKey({ key: Buffer.from(trusted.publicKey, "base64"), format: "der", type: "spki" });
  const holds = verify(null, Buffer.from(signature.statement), key, Buffer.from(signature.value, "base64"));
  return holds && signature.statement.split("\n").at(-1) === sha256Of(Buffer.from(bytes, "base64"));
}

describe("versions", () => {
  test("are the published ones, newest first, in pages", async () => {
    const draft = draftOf("core/article");
    const id = await publish(room, draft);
    await edit(room, { ...draft, title: "Never published" }, 1);
    await edit(room, { ...draft, title: "Third" }, 2);
    await transition(room, id, "publish", 3);
    const path = `/documents/${id}/versions`;
    const all = await read<Versions>(room, path);
    expect(all.versions.map(({ version, sequence }) => [version, sequence])).toEqual([
      [3, 2],
      [1, 1],
    ]);
    expect(all.hasMore).toBe(false);
    const first = await read<Versions>(room, `${path}?limit=1`);
    const second = await read<Versions>(room, `${path}?limit=1&cursor=${first.nextCursor}`);
    expect([...first.versions, ...second.versions]).toEqual(all.versions);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    expect(all.versions[0]?.updated_at).toBe((await readDocument(room, `/documents/${id}`)).updated_at);
    await refusal(room.request(`/v1/publisher${path}/2`), 404, "NOT_FOUND");
    await refusal(room.request(`/v1/publisher${path}/4`), 404, "NOT_FOUND");
  });

  test("hold the exact signed bytes, with their digest and a signature by a key of the trust list", async () => {
    const draft = draftOf("core/article", { title: "Ø, 1.50 and \u2028", meta: { share: 1.5e-7 } });
    const id = await publish(room, draft);
    await transition(room, id, "withhold");
    await transition(room, id, "publish");
    const { document, snapshots } = await signedVersion(id, 1);
    expect(snapshots.map(({ sequence, status }) => [sequence, status])).toEqual([
      [1, "usable"],
      [3, "usable"],
    ]);
    for (const snapshot of snapshots) {
      const bytes = Buffer.from(snapshot.bytes, "base64");
      expect(snapshot.sha256).toBe(sha256Of(bytes));
      expect(JSON.parse(bytes.toString())).toMatchObject({ id, title: draft["title"], meta: { version: 1 } });
      const [name, tenantId, documentId, sequence, version, status] = snapshot.signature?.statement.split("\n") ?? [];
      expect([name, tenantId, documentId]).toEqual(["vidimus-snapshot-v1", room.tenantId, id]);
      expect([sequence, version, status]).toEqual([String(snapshot.sequence), "1", "usable"]);
      expect(snapshot.signature?.algorithm).toBe("ed25519");
      expect(await isGenuine(snapshot)).toBe(true);
      expect(await isGenuine({ ...snapshot, bytes: Buffer.concat([bytes, Buffer.from(" ")]).toString("base64") })).toBe(
        false,
      );
    }
    const newest = Buffer.from(snapshots[1]?.bytes ?? "", "base64").toString();
    expect(document).toEqual(JSON.parse(newest));
    expect(await (await room.request(`/v1/publisher/documents/${id}`)).text()).toBe(
      `{"ok":true,"data":{"document":${newest}}}`,
    );
    const { versions } = await read<Versions>(room, `/documents/${id}/versions`);
    expect(versions[0]).toMatchObject({ version: 1, sequence: 3, sha256: snapshots[1]?.sha256 });
  });

  /** Statuses for the ETag of a path: at once, after an edit, and after the next publication. */
  async function statusesFor(path: string): Promise<number[]> {
    const draft = draftOf("core/article");
    const id = await publish(room, draft);
    await signedVersion(id, 1);
    const url = `/v1/publisher/documents/${id}${path}`;
    const tag = (await room.request(url)).headers.get("etag") ?? "";
    const status = async () => (await room.request(url, { headers: { "if-none-match": tag } })).status;
    const statuses = [await status()];
    await edit(room, { ...draft, title: "Second" }, 1);
    statuses.push(await status());
    await transition(room, id, "publish", 2);
    return [...statuses, await status()];
  }

  test("when listed, answer 304 until the next publication", async () => {
    expect(await statusesFor("/versions")).toEqual([304, 304, 200]);
  });

  test("when read one by one, answer 304 even after the next publication", async () => {
    expect(await statusesFor("/versions/1")).toEqual([304, 304, 304]);
  });
});

test("an unsigned snapshot has null for its signature, and all other members", async () => {
  const unsigned = await sharedConstellation({ env: { SIGNING: "off" } });
  using others = openTenants(unsigned.dev);
  const quiet = await others.create();
  const id = await publish(quiet, draftOf("core/article"));
  const { version } = await read<Version>(quiet, `/documents/${id}/versions/1`);
  expect(version.snapshots).toEqual([
    { sequence: 1, status: "usable", bytes: expect.any(String), sha256: expect.any(String), signature: null },
  ]);
  expect(sha256Of(Buffer.from(version.snapshots[0]?.bytes ?? "", "base64"))).toBe(version.snapshots[0]?.sha256);
});
