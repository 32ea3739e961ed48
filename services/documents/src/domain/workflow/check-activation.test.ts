import { describe, expect, test } from "vitest";
import { requireUsable } from "./check-activation.ts";
import { defaultWorkflow } from "./default-workflow.ts";
import { parseDefinition } from "./parse-definition.ts";

const publish = { name: "publish", from: ["draft"], to: "usable", roles: [] };

function activate(definition: unknown): void {
  requireUsable({ workflowId: "desk", version: 3, ...parseDefinition(definition) });
}

describe("a workflow can be activated", () => {
  test("when all of its own states and the published one can be reached", () => {
    expect(() => requireUsable(defaultWorkflow)).not.toThrow();
    expect(() => activate({ transitions: [publish] })).not.toThrow();
  });

  test("not when nothing can be published, and the refusal says what to add", () => {
    const review = { name: "submit", from: ["draft"], to: "review", roles: [] };
    const release = { name: "release", from: ["withheld"], to: "usable", roles: [] };
    const refused = () => activate({ states: { review: { kind: "working" } }, transitions: [review, release] });
    expect(refused).toThrow(
      expect.objectContaining({
        kind: "failed_precondition",
        reason: "no_way_to_publish",
        message: expect.stringContaining("add a transition to it, from draft or review, in version 4"),
      }),
    );
  });

  test("not when no transitions lead to one of its states, and the refusal names the state", () => {
    const leave = { name: "leave", from: ["limbo"], to: "draft", roles: [] };
    expect(() => activate({ states: { limbo: { kind: "working" } }, transitions: [publish, leave] })).toThrow(
      expect.objectContaining({
        reason: "orphan_state",
        violations: [expect.objectContaining({ pointer: "/states/limbo" })],
      }),
    );
  });
});
