import type { Guard, Transition, WorkflowDefinition } from "./definition.ts";

const publishGuards: readonly Guard[] = [{ kind: "publishValid" }, { kind: "slugFree" }, { kind: "notEmbargoed" }];
const neverPublished: readonly Guard[] = [{ kind: "neverPublished" }];

function transition(
  name: string,
  from: readonly string[],
  to: string,
  roles: readonly string[],
  guards: readonly Guard[] = [],
): Transition {
  return { name, from, to, roles, guards };
}

const editors: readonly string[] = ["writer", "editor", "chief", "system"];

/** The workflow of every built-in type until a tenant activates another one. */
export const defaultWorkflow: WorkflowDefinition = {
  workflowId: "editorial",
  version: 1,
  states: new Map([
    ["draft", "working"],
    ["review", "working"],
    ["approved", "working"],
    ["spiked", "working"],
    ["usable", "published"],
    ["withheld", "withdrawn"],
    ["cancelled", "terminal"],
  ]),
  create: ["integrator", ...editors],
  edit: new Map([
    ["draft", editors],
    ["review", editors],
    ["approved", editors],
    ["spiked", []],
    ["usable", editors],
    ["withheld", editors],
  ]),
  transitions: [
    transition("submit", ["draft"], "review", ["writer", "editor"]),
    transition("return", ["review"], "draft", ["writer", "editor"]),
    transition("approve", ["review"], "approved", ["editor"]),
    transition("publish", ["draft", "review", "approved", "withheld"], "usable", ["editor", "system"], publishGuards),
    transition("withhold", ["usable"], "withheld", ["editor", "legal"]),
    transition("kill", ["usable", "withheld"], "cancelled", ["chief", "legal"]),
    transition("spike", ["draft", "review", "approved"], "spiked", ["editor"], neverPublished),
    transition("restore", ["spiked"], "draft", ["admin"], neverPublished),
  ],
};
