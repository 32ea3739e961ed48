import { expect, test } from "vitest";
import { openScripts } from "./support/model/open-scripts.ts";

test(
  "300 scripts of publishing, sending, disabling, enabling, replays, deaths and lost leases break no rule",
  { timeout: 300_000 },
  async () => {
    await using scripts = await openScripts();
    expect(await scripts.run(1, 300)).toEqual([]);
  },
);
