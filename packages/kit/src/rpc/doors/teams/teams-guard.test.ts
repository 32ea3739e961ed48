import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { expect, it } from "vitest";
import { parseGrants } from "./parse-grants.ts";
import { personActor } from "../../context/person.ts";
import type { Refusal } from "../shared/refusals.ts";
import { partialRoute, teamsRoute } from "../shared/route.ts";
import { teamsGuard } from "./teams-guard.ts";

const identity = "spiffe://vidimus.example/console";
const { listPhrases, upsertPhrase, getPhrase } = PhraseService.method;
const person = personActor({ issuer: "https://id.example", subject: "ida" });
async function* noPhrases() {}
const methods = partialRoute(PhraseService, {
  listPhrases: noPhrases,
  upsertPhrase: () => ({}),
  getPhrase: () => ({}),
});
const routes = [teamsRoute(methods, { listPhrases: "read", upsertPhrase: "write", getPhrase: "tenantless" })];

function open(grant: object) {
  const refusals: Refusal[] = [];
  const grants = parseGrants(
    JSON.stringify({ grants: [{ identity, tenants: ["demo"], roles: ["editor"], ...grant }] }),
  );
  const report = (refusal: Refusal) => void refusals.push(refusal);
  const guard = teamsGuard({ routes, grants: () => grants, tenants: undefined, report });
  const admit = (method: typeof listPhrases | typeof upsertPhrase | typeof getPhrase, actor = "ida", role = "editor") =>
    guard.admit(method, { identity, actor, role, peer: "127.0.0.1:1" });
  return { admit, refusals };
}

it("a grant of a method opens that method, and no other method of its service", () => {
  const { admit, refusals } = open({ methods: ["vidimus.phrases.v1.PhraseService/ListPhrases"] });
  admit(listPhrases);
  for (const method of [upsertPhrase, getPhrase]) {
    expect(() => admit(method)).toThrow("neither the service nor the method");
  }
  const refusal: unknown = expect.objectContaining({ reason: "service", who: identity });
  expect(refusals).toEqual([refusal, refusal]);
});

it("a grant of a service opens all its methods, even beside a grant of single methods", () => {
  const { admit } = open({ services: [PhraseService.typeName], methods: ["vidimus.documents.v1.DocumentService/Get"] });
  for (const method of [listPhrases, upsertPhrase, getPhrase]) expect(() => admit(method)).not.toThrow();
});

/** Actors that people would take for a person's. */
const people = [person, person.toUpperCase(), ` ${person}`, person.replace(":", "\uFF1A"), "person:ida"];

it.each(people)("acting as %j needs a grant with `people`, for reads, too", (actor) => {
  const { admit, refusals } = open({ services: [PhraseService.typeName] });
  for (const method of [listPhrases, upsertPhrase]) expect(() => admit(method, actor)).toThrow("does not let it act");
  expect(refusals).toEqual(Array.from({ length: 2 }, () => expect.objectContaining({ reason: "actor" })));
  const allowed = open({ services: [PhraseService.typeName], people: true });
  for (const method of [listPhrases, upsertPhrase]) expect(() => allowed.admit(method, actor)).not.toThrow();
});

it.each(people)("a caller acts as %j only in the roles of its grant", (actor) => {
  const { admit } = open({ services: [PhraseService.typeName], people: true });
  expect(() => admit(listPhrases, actor, "owner")).toThrow('the role "owner"');
});

it("a method that concerns no tenant needs a grant of its service, but of no tenant", () => {
  const elsewhere = open({ services: ["vidimus.documents.v1.DocumentService"] });
  expect(() => elsewhere.admit(getPhrase)).toThrow("neither the service nor the method");
  const { admit } = open({ services: [PhraseService.typeName], tenants: [] });
  expect(() => admit(getPhrase)({ tenantId: "rival" })).not.toThrow();
  expect(() => admit(listPhrases)({ tenantId: "rival" })).toThrow('the tenant "rival"');
});
