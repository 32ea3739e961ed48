import type { VersionedDatabase } from "@vidimus/kit/mongo/database-version";
import type { ClockRow } from "./rows.ts";

/**
 * Ticks every tenant's clock for every type, which invalidates all cached pages. After rows of
 * publications got new keys, a cached page may lack documents that its filter finds now.
 */
export async function endKeptPages({ db }: Pick<VersionedDatabase, "db">): Promise<void> {
  const tick = { $set: { tick: { $max: ["$$NOW", { $add: ["$tick", 1] }] } } };
  // Type names are data and must not be used as paths, so the object is rebuilt from an array.
  const stamp = { $map: { input: { $objectToArray: "$types" }, in: { k: "$$this.k", v: "$tick" } } };
  await db.collection<ClockRow>("clocks").updateMany({}, [tick, { $set: { types: { $arrayToObject: stamp } } }]);
}
