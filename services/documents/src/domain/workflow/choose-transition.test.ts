import { DomainError } from "@vidimus/kit/errors";
import { describe, expect, test } from "vitest";
import { chooseTransition } from "./choose-transition.ts";
import { defaultWorkflow } from "./default-workflow.ts";
import { planTransition } from "./plan-transition.ts";
import type { DocumentStanding } from "./standing.ts";

const draft: DocumentStanding = { head: { version: 1, status: "draft" } };
const usable: DocumentStanding = {
  head: { version: 1, status: "usable" },
  lastPublished: { version: 1, status: "usable" },
};
const edited: DocumentStanding = {
  head: { version: 2, status: "draft" },
  lastPublished: { version: 1, status: "usable" },
};
const withheld: DocumentStanding = {
  head: { version: 2, status: "draft" },
  lastPublished: { version: 1, status: "withheld" },
};

function plan(document: DocumentStanding, name: string, expectedVersion = 1, role = "admin") {
  const chosen = chooseTransition(defaultWorkflow, document, { name, expectedVersion, role });
  return planTransition(document, chosen);
}

function kindOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof DomainError) return error.kind;
    throw error;
  }
  return "no error";
}

describe("in the default workflow", () => {
  test.each([
    ["submit", "draft", "review"],
    ["return", "review", "draft"],
    ["approve", "review", "approved"],
    ["publish", "draft", "usable"],
    ["publish", "review", "usable"],
    ["publish", "approved", "usable"],
    ["spike", "draft", "spiked"],
    ["spike", "review", "spiked"],
    ["spike", "approved", "spiked"],
    ["restore", "spiked", "draft"],
  ])("%s leads from %s to %s", (name, from, to) => {
    expect(plan({ head: { version: 1, status: from } }, name)).toMatchObject({ from, to, headStatus: to });
  });

  test.each([
    ["submit", ["writer", "editor", "owner", "admin"]],
    ["return", ["writer", "editor", "owner", "admin"]],
    ["approve", ["editor", "owner", "admin"]],
    ["publish", ["editor", "system", "owner", "admin"]],
    ["withhold", ["editor", "legal", "owner", "admin"]],
    ["kill", ["chief", "legal", "owner", "admin"]],
    ["spike", ["editor", "owner", "admin"]],
    ["restore", ["owner", "admin"]],
  ])("%s is for exactly the roles %j", (name, roles) => {
    const { from } = defaultWorkflow.transitions.find((transition) => transition.name === name)!;
    const status = from[0]!;
    const isOut = ["usable", "withheld"].includes(status);
    const document = { head: { version: 1, status }, ...(isOut ? { lastPublished: { version: 1, status } } : {}) };
    const allRoles = ["writer", "editor", "chief", "legal", "system", "integrator", "owner", "admin", "reader", ""];
    const allowed = allRoles.filter((role) => kindOf(() => plan(document, name, 1, role)) === "no error");
    expect(allowed.toSorted()).toEqual(roles.toSorted());
  });

  test.each(["submit", "return", "approve", "publish", "withhold", "kill", "spike", "restore"])(
    "%s does not lead out of cancelled",
    (name) => {
      const cancelled = {
        head: { version: 1, status: "cancelled" },
        lastPublished: { version: 1, status: "cancelled" },
      };
      expect(kindOf(() => plan(cancelled, name))).toBe("failed_precondition");
    },
  );

  test("withhold does not lead out of draft", () => {
    expect(kindOf(() => plan(draft, "withhold"))).toBe("failed_precondition");
  });

  test("submit, return, approve, spike, restore and publish do not lead out of usable", () => {
    for (const name of ["submit", "return", "approve", "spike", "restore", "publish"]) {
      expect(
        kindOf(() => plan(usable, name)),
        name,
      ).toBe("failed_precondition");
    }
  });
});

test("a transition out of usable acts on the last published version and leaves a newer head as it is", () => {
  expect(plan(edited, "withhold", 1)).toEqual({
    version: 1,
    from: "usable",
    to: "withheld",
    headStatus: "draft",
    lastPublished: { version: 1, status: "withheld", snapshot: "withheld", isFinal: false },
  });
});

test("a transition out of a working state acts on the head", () => {
  expect(plan(edited, "submit", 2)).toEqual({ version: 2, from: "draft", to: "review", headStatus: "review" });
});

test("where last published version and head are both possible, expectedVersion decides", () => {
  expect(plan(withheld, "publish", 1)).toMatchObject({
    version: 1,
    headStatus: "draft",
    lastPublished: { version: 1 },
  });
  expect(plan(withheld, "publish", 2)).toMatchObject({
    version: 2,
    headStatus: "usable",
    lastPublished: { version: 2 },
  });
});

test("a wrong expectedVersion is a conflict that names a version on which the transition can act", () => {
  expect(() => plan(edited, "withhold", 2)).toThrow("version 2 was expected, but version 1 stands there, usable");
  expect(() => plan(withheld, "publish", 3)).toThrow("version 3 was expected, but version 1 stands there, withheld");
  expect(() => plan(draft, "publish", 9)).toThrow("version 9 was expected, but version 1 stands there, draft");
  for (const [document, name, version] of [
    [edited, "withhold", 2],
    [draft, "withhold", 9],
  ] as const) {
    expect(kindOf(() => plan(document, name, version))).toBe("conflict");
  }
});

test("neither version of a killed document can be published", () => {
  const killed = { head: { version: 2, status: "cancelled" }, lastPublished: { version: 1, status: "cancelled" } };
  expect(kindOf(() => plan(killed, "publish", 2))).toBe("failed_precondition");
  expect(kindOf(() => plan(killed, "publish", 1))).toBe("conflict");
});

test("an unknown transition is refused with the names of the workflow's transitions", () => {
  const names = defaultWorkflow.transitions.map(({ name }) => name).join(", ");
  expect(() => plan(draft, "launch")).toThrow(`no transition "launch"; it has ${names}`);
});

describe("a kill", () => {
  test.each([
    ["a published document", usable],
    ["a published document with a newer draft", edited],
    ["a withheld document", withheld],
  ])("of %s makes a final withheld snapshot and cancels the head", (_, document) => {
    expect(plan(document, "kill", 1)).toMatchObject({
      version: 1,
      to: "cancelled",
      headStatus: "cancelled",
      lastPublished: { version: 1, status: "cancelled", snapshot: "withheld", isFinal: true },
    });
  });
});
