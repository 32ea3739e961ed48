import { DomainError } from "@vidimus/kit/errors";
import { describe, expect, test } from "vitest";
import { parseDefinition } from "./parse-definition.ts";

const publish = { name: "publish", from: ["legal-check"], to: "usable", roles: ["editor"], guards: ["publishValid"] };
const check = { name: "check", from: ["draft"], to: "legal-check", roles: ["writer"] };
const states = { "legal-check": { kind: "working" } };

function pointersOf(value: unknown): string[] {
  try {
    parseDefinition(value);
  } catch (error) {
    if (error instanceof DomainError && error.kind === "invalid") return error.violations.map(({ pointer }) => pointer);
    throw error;
  }
  return [];
}

/** A definition whose one transition is `publish` with `change`. */
function having(change: object): unknown {
  return { states, transitions: [{ ...publish, ...change }] };
}

describe("a definition", () => {
  test("has the four fixed states whether it lists them or not", () => {
    const expected = new Map([
      ["draft", "working"],
      ["usable", "published"],
      ["withheld", "withdrawn"],
      ["cancelled", "terminal"],
      ["legal-check", "working"],
    ]);
    expect(parseDefinition({ states, transitions: [check, publish] }).states).toEqual(expected);
    const listed = {
      ...states,
      draft: { kind: "working" },
      usable: { kind: "published" },
      withheld: { kind: "withdrawn" },
      cancelled: { kind: "terminal" },
    };
    expect(parseDefinition({ states: listed, transitions: [check] }).states).toEqual(expected);
  });

  test("names the roles that may create and, by state, edit", () => {
    const ruled = {
      create: ["writer"],
      states: { draft: { kind: "working", edit: ["editor"] }, usable: { kind: "published", edit: [] } },
      transitions: [],
    };
    const edit = new Map([
      ["draft", ["editor"]],
      ["usable", []],
    ]);
    expect(parseDefinition(ruled)).toMatchObject({ create: ["writer"], edit });
  });

  test("may leave out the roles that create and edit", () => {
    const free = parseDefinition({ states, transitions: [] });
    expect([free.create, free.edit]).toEqual([undefined, new Map()]);
  });

  test("may have guards with and without an argument", () => {
    const guards = ["fourEyes", { metaPresent: ["slug"] }, { linkPresent: "source" }];
    expect(parseDefinition(having({ guards })).transitions[0]?.guards).toEqual([
      { kind: "fourEyes" },
      { kind: "metaPresent", keys: ["slug"] },
      { kind: "linkPresent", rel: "source" },
    ]);
  });

  test.each<[string, unknown, string[]]>([
    ["is no object", [], ["", "/transitions"]],
    ["has an unknown member", { transitions: [], colour: 1 }, ["/colour"]],
    [
      "gives a fixed state another kind",
      { states: { draft: { kind: "terminal" } }, transitions: [] },
      ["/states/draft/kind"],
    ],
    [
      "has a second published state",
      { states: { live: { kind: "published" } }, transitions: [] },
      ["/states/live/kind"],
    ],
    ["has a state with a bad name", { states: { "A b": { kind: "working" } }, transitions: [] }, ["/states/A b"]],
    ["has two transitions of one name", { states, transitions: [publish, publish] }, ["/transitions/1/name"]],
    ["has a transition from an unknown state", having({ from: ["nowhere"] }), ["/transitions/0/from/0"]],
    ["has a transition to an unknown state", having({ to: "nowhere" }), ["/transitions/0/to"]],
    ["has a transition from no state", having({ from: [] }), ["/transitions/0/from"]],
    ["has a transition out of a terminal state", having({ from: ["draft", "cancelled"] }), ["/transitions/0/from/1"]],
    [
      "has a transition from usable to a working state",
      having({ from: ["usable"], to: "draft" }),
      ["/transitions/0/from/0"],
    ],
    ["withholds what was not published", having({ from: ["draft"], to: "withheld" }), ["/transitions/0/from/0"]],
    ["has an unknown guard", having({ guards: ["moonIsFull"] }), ["/transitions/0/guards/0"]],
    [
      "has a guard with two names",
      having({ guards: [{ metaPresent: ["a"], linkPresent: "b" }] }),
      ["/transitions/0/guards/0"],
    ],
    [
      "has a guard with an empty argument",
      having({ guards: [{ metaPresent: [] }] }),
      ["/transitions/0/guards/0/metaPresent"],
    ],
    ["has a transition for a role with a bad name", having({ roles: ["Chief!"] }), ["/transitions/0/roles/0"]],
    ["lets a role with a bad name create", { create: ["A"], transitions: [] }, ["/create/0"]],
    [
      "lets a role edit in a terminal state",
      { states: { cancelled: { kind: "terminal", edit: ["writer"] } }, transitions: [] },
      ["/states/cancelled/edit"],
    ],
  ])("that %s is refused with the pointer of each fault", (_, value, pointers) => {
    expect(pointersOf(value)).toEqual(pointers);
  });

  test("is refused with all its faults at once", () => {
    expect(pointersOf(having({ to: "nowhere", guards: ["moonIsFull"] }))).toHaveLength(2);
  });
});
