import { expect, test } from "vitest";
import { defaultWorkflow } from "./default-workflow.ts";
import type { Guard } from "./definition.ts";
import { definitionJson } from "./definition-json.ts";
import { parseDefinition } from "./parse-definition.ts";

test("the default workflow is unchanged after it is written as JSON and read again", () => {
  const { workflowId: _, version: _v, ...body } = defaultWorkflow;
  expect(parseDefinition(JSON.parse(definitionJson(defaultWorkflow).toString()))).toEqual(body);
});

test("guards keep their arguments when a definition is written and read again", () => {
  const guards: Guard[] = [
    { kind: "metaPresent", keys: ["slug", "language"] },
    { kind: "linkPresent", rel: "source" },
    { kind: "fourEyes" },
  ];
  const transitions = [{ name: "publish", from: ["draft"], to: "usable", roles: ["editor"], guards }];
  const written = definitionJson({ ...defaultWorkflow, transitions });
  expect(parseDefinition(JSON.parse(written.toString())).transitions).toEqual(transitions);
});
