import { describe, expect, it } from "vitest";
import { webhookIdOf } from "../domain/payload.ts";
import { withPredecessors } from "./references.ts";

const ref = (documentId: string, sequence: number) => ({ tenantId: "acme", documentId, sequence });

async function expand(asked: ReturnType<typeof ref>[], stored: ReturnType<typeof ref>[]): Promise<string[]> {
  const known = new Set(stored.map(webhookIdOf));
  const found = await withPredecessors(asked, async (ids) => new Set(ids.filter((id) => known.has(id))));
  return found.map(({ documentId, sequence }) => `${documentId}${sequence}`);
}

describe("references to take in", () => {
  it("are put older before newer, each once", async () => {
    expect(await expand([ref("a", 2), ref("b", 1), ref("a", 1), ref("a", 2)], [])).toEqual(["b1", "a1", "a2"]);
  });

  it("bring along the older ones that are not stored, as far back as the newest stored one", async () => {
    expect(await expand([ref("a", 6), ref("b", 9)], [ref("a", 2), ref("b", 8)])).toEqual([
      "a3",
      "a4",
      "a5",
      "a6",
      "b9",
    ]);
  });

  it("bring along nothing when the one before is stored", async () => {
    expect(await expand([ref("a", 6)], [ref("a", 5)])).toEqual(["a6"]);
  });
});
