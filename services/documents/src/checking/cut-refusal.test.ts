import type { Violation } from "@vidimus/kit/errors";
import { expect, test } from "vitest";
import { runJob } from "./check-job.ts";
import { cutViolations, refuseCut } from "./cut-refusal.ts";
import { JobCut } from "./job-thread.ts";

const limits = { cpuMs: 300, heapMiB: 16 };
const found = [{ pointer: "/content/blocks", message: "must be array" }];

test("a job that was cut at a limit reports the violations that it had found", () => {
  const refuse = refuseCut("the document", limits);
  expect(() => refuse(new JobCut("time", found))).toThrow(
    expect.objectContaining({
      kind: "invalid",
      violations: found,
      message: expect.stringContaining("/content/blocks"),
    }),
  );
  expect(cutViolations(new JobCut("time", found), limits)).toEqual(found);
});

test("of forty violations that a cut job had found twenty are reported", () => {
  const forty = Array.from({ length: 40 }, () => found[0]!);
  expect(cutViolations(new JobCut("time", forty), limits)).toHaveLength(20);
});

test("a job that was cut before it found a violation reports the limit that it exceeded", () => {
  const refuse = refuseCut("the document", limits);
  expect(() => refuse(new JobCut("time", undefined))).toThrow("the document cannot be used: it takes more than 300 ms");
  expect(() => refuse(new JobCut("memory", undefined))).toThrow("it takes more than 16 MiB");
  expect(cutViolations(new JobCut("memory", undefined), limits)).toMatchObject([
    { pointer: "", message: expect.stringContaining("more than 16 MiB") },
  ]);
});

test("an error that is no JobCut is thrown again unchanged", () => {
  const failure = new TypeError("x is undefined");
  expect(() => refuseCut("the document", limits)(failure)).toThrow(failure);
  expect(() => cutViolations(failure, limits)).toThrow(failure);
});

test.each([
  [
    "flat",
    { id: "0194c9a0-0000-4000-8000-000000000001", type: "core/article", title: "T", content: { blocks: 7 } },
    "",
  ],
  ["wrapped", { version: 1, payload: { type: "core/article", title: "T", content: { blocks: 7 } } }, "/payload"],
])("a read job reports violations with pointers into its request: %s", (_, body, pointer) => {
  const told: Violation[] = [];
  const form = { as: "create", tenantId: "demo", intakeToken: "t" } as const;
  runJob({ kind: "read", json: Buffer.from(JSON.stringify(body)), form }, (report) => {
    if ("progress" in report) told.push(...(report.progress ?? []));
  });
  expect(told).toMatchObject([{ pointer: `${pointer}/content/blocks` }]);
});
