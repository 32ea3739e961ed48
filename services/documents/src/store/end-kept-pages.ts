import type { SchemaDatabase } from "@vidimus/kit/mongo/schema";
import type { ClockRow } from "./rows.ts";

/**
 * Ticks every tenant's clock for every type, so that no page from before is current any more. Rows of
 * publications may have been given new keys: a kept page may lack documents that its filter finds now.
 */
export async function endKeptPages({ db }: Pick<SchemaDatabase, "db">): Promise<void> {
  const tick = { $set: { tick: { $max: ["$$NOW", { $add: ["$tick", 1] }] } } };
  // Type names are data, never paths.
  const stamp = { $map: { input: { $objectToArray: "$types" }, in: { k: "$$this.k", v: "$tick" } } };
  await db.collection<ClockRow>("clocks").updateMany({}, [tick, { $set: { types: { $arrayToObject: stamp } } }]);
}
