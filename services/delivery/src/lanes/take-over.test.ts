import { patient } from "@vidimus/kit/testing/patient";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { takeOverUntilDone } from "./take-over.ts";

it("a failed takeover is repeated, and then wakes the search for due lanes", async () => {
  const done: string[] = [];
  const stop = new AbortController();
  let failures = 1;
  takeOverUntilDone(
    {
      queues: { noteTakeover: () => {}, readGates: async () => void done.push("gates") },
      lanes: {
        appointMissingBearers: async () => {
          failures -= 1;
          if (failures >= 0) throw new Error("MongoDB does not answer");
          done.push("bearers");
          return 1;
        },
      },
      endpoints: { listUnannounced: async () => [] },
      announce: () => {},
      wake: () => void done.push("wake"),
      log: pino({ level: "silent" }),
    },
    stop.signal,
  );
  await vi.waitFor(() => expect(done).toEqual(["gates", "gates", "bearers", "wake"]), patient);
  stop.abort();
});
