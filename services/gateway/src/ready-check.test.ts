import { expect, test } from "vitest";
import { withGrace } from "./ready-check.ts";

test("the gateway stays ready for a minute after the database's last answer", async () => {
  let now = 0;
  let up = true;
  const check = withGrace(
    async () => {
      if (!up) throw new Error("down");
    },
    () => now,
  );
  now = 50_000;
  await check();
  up = false;
  now = 110_000;
  await check();
  now = 110_001;
  await expect(check()).rejects.toThrow("down");
  up = true;
  await check();
});
