import { expect, it } from "vitest";
import { type Endpoint, eventsByDefault } from "../domain/endpoint.ts";
import { newGate } from "../domain/endpoint-gate.ts";
import type { ClaimScope } from "../store/lane-store.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { claimLanes } from "./claim-lanes.ts";
import { FreshTenants } from "./fresh-tenants.ts";
import { EndpointQueue } from "./endpoint-queue.ts";
import { MissingBodies } from "./missing-bodies.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const settings = { url: "https://e1.example/", secrets: [Buffer.alloc(32)] as const, headers: {}, enabled: true };
const endpoint: Endpoint = { ...names, ...settings, createdAt: new Date(), events: eventsByDefault, maxInFlight: 4 };

/**
 * The scope of a claim for an endpoint, one of whose lanes has no body.
 *
 * @param gate that is known before the claim
 */
async function scopeOf(
  gate: EndpointQueue["gate"],
  { fresh = new FreshTenants(), answerMs = 1_000, stored = gate } = {},
): Promise<ClaimScope | undefined> {
  const bodies = new BodyBudget(1_000_000);
  const answerTimes = new AnswerTimes();
  answerTimes.note("e1", answerMs);
  const shared = { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes, bodies };
  const queue = new EndpointQueue(names, shared);
  queue.adopt(gate);
  const missingBodies = new MissingBodies();
  missingBodies.note("e1", "without", Date.now());
  missingBodies.note("other", "of another endpoint", Date.now());
  let claimed: ClaimScope | undefined;
  const deps = {
    directory: { find: async () => endpoint },
    gates: { refresh: async (refreshed: EndpointQueue) => refreshed.adopt(stored) },
    deleteUndelivered: async () => {},
    lanes: {
      claim: async (scope: ClaimScope) => {
        claimed = scope;
        return [];
      },
    },
    bodies,
    fresh,
    missingBodies,
    leaseMs: 20_000,
  };
  await claimLanes(deps, queue, new Date(), () => {});
  return claimed;
}

it("a probe does not take a lane whose body could not be made a moment ago", async () => {
  const now = Date.now();
  const open = { since: now - 60_000, nextProbeAt: now - 1, spacingMs: 5_000 };
  expect(await scopeOf({ ...newGate, open })).toMatchObject({ limit: 1, without: ["without"] });
  expect(await scopeOf(newGate)).toMatchObject({ without: [] });
});

it("a claim takes at most 32 lanes while another tenant has just published, and 256 otherwise", async () => {
  const fresh = new FreshTenants();
  const quick = { fresh, answerMs: 1 };
  expect(await scopeOf(newGate, quick)).toMatchObject({ limit: 256 });
  fresh.note("acme");
  expect(await scopeOf(newGate, quick)).toMatchObject({ limit: 256 });
  fresh.note("other");
  expect(await scopeOf(newGate, quick)).toMatchObject({ limit: 32 });
});

it("nothing is claimed for an endpoint that another replica has paused since its gate was last read", async () => {
  expect(await scopeOf(newGate)).toBeDefined();
  expect(await scopeOf(newGate, { stored: { ...newGate, pausedUntil: Date.now() + 8_000 } })).toBeUndefined();
});
