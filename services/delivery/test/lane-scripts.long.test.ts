import { expect, test } from "vitest";
import { openScripts } from "./support/model/open-scripts.ts";

test(
  "12,000 scripts of publishing, sending, enabling, replays and deaths break no rule of the lanes",
  { timeout: 3_600_000 },
  async () => {
    await using scripts = await openScripts();
    expect(await scripts.run(1_000, 10_000)).toEqual([]);
    expect(await scripts.runAging(1_000, 2_000)).toEqual([]);
  },
);
