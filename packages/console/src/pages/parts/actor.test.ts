import { expect, it } from "vitest";
import { actorName } from "./actor.ts";

it("an API key is shown by its name, or by its prefix when its name is not known", () => {
  const names = new Map([["key:a1b2c3", "Wire importer"]]);
  expect(actorName(names, "key:a1b2c3").toString()).toContain(">Wire importer<");
  expect(actorName(new Map(), "key:a1b2c3").toString()).toContain("API key <code>vk_a1b2c3_…</code>");
});

it("a program without an API key is shown by its actor", () => {
  expect(actorName(new Map(), "cli:ada").toString()).toContain(">cli:ada<");
});
