import { expect, test } from "vitest";
import { openScripts } from "./support/model/open-scripts.ts";

test(
  "12,000 random scripts of sends, disabling, replays and deaths leave no lane stuck or out of order",
  { timeout: 3_600_000 },
  async () => {
    await using scripts = await openScripts();
    expect(await scripts.run(1_000, 10_000)).toEqual([]);
    expect(await scripts.runAging(1_000, 2_000)).toEqual([]);
  },
);
