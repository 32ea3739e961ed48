import { expect, test } from "vitest";
import { UploadTurns } from "./upload-turns.ts";

test("two uploads run at once, and each that ends or fails lets the next one in the queue begin", async () => {
  const turns = new UploadTurns();
  const begun: number[] = [];
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const runs = gates.map((gate, n) =>
    turns.run(async () => {
      begun.push(n);
      await gate.promise;
    }),
  );
  expect(begun).toEqual([0, 1]);
  gates[1]!.reject(new Error("broken"));
  await expect(runs[1]).rejects.toThrow("broken");
  expect(begun).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all([runs[0], runs[2], runs[3]]);
  expect(begun).toEqual([0, 1, 2, 3]);
  await turns.run(async () => {});
});

test("the eleventh upload at once is refused, and another is taken once the ten have ended", async () => {
  const turns = new UploadTurns();
  const gate = Promise.withResolvers<void>();
  const runs = Array.from({ length: 10 }, () => turns.run(() => gate.promise));
  await expect(turns.run(async () => {})).rejects.toThrow(/too many/);
  gate.resolve();
  await Promise.all(runs);
  expect(await turns.run(async () => "done")).toBe("done");
});
