import { expect, it } from "vitest";
import { claimsToBePerson, isPersonActor, personActor } from "./person.ts";

it("the actor of a person is `person:` and a hash of issuer and subject", () => {
  const actor = personActor({ issuer: "vidimus:link", subject: "operator" });
  // printf 'vidimus:link\noperator' | sha256sum
  expect(actor).toBe("person:def2ca2eb3f9e191e9e1a62cde4b1b95");
  expect(isPersonActor(actor)).toBe(true);
  expect(personActor({ issuer: "vidimus:link", subject: "operator2" })).not.toBe(actor);
  expect(personActor({ issuer: "https://id.example", subject: "operator" })).not.toBe(actor);
});

it.each([
  "person:0123456789abcdef0123456789abcde",
  "person:",
  "person:ida",
  "Person:1",
  " person:1",
  "person：1",
  "per\u00ADson:1",
])("%j is no person's actor, but people would take it for one", (actor) => {
  expect([isPersonActor(actor), claimsToBePerson(actor)]).toEqual([false, true]);
});

it.each(["", "ida", "cli:ida", "key:person:1", "persons:1"])("%j is not taken for a person's actor", (actor) => {
  expect(claimsToBePerson(actor)).toBe(false);
});
