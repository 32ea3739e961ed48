import { expect, it } from "vitest";
import { type Endpoint, eventsByDefault } from "../domain/endpoint.ts";
import { newGate } from "../domain/endpoint-gate.ts";
import type { ClaimScope } from "../store/lane-store.ts";
import { AnswerTimes } from "./answer-times.ts";
import { BodyBudget } from "./body-budget.ts";
import { claimLanes } from "./claim-lanes.ts";
import { EndpointQueue } from "./endpoint-queue.ts";
import { MissingBodies } from "./missing-bodies.ts";

const names = { tenantId: "acme", endpointId: "e1" };
const settings = { url: "https://e1.example/", secrets: [Buffer.alloc(32)] as const, headers: {}, enabled: true };
const endpoint: Endpoint = { ...names, ...settings, createdAt: new Date(), events: eventsByDefault, maxInFlight: 4 };

/** What is claimed of an endpoint, one of whose lanes has no body. */
async function scopeOf(gate: EndpointQueue["gate"]): Promise<ClaimScope | undefined> {
  const bodies = new BodyBudget(1_000_000);
  const shared = { aheadMs: 1_000, bodyBytes: () => 2_000, answerTimes: new AnswerTimes(), bodies };
  const queue = new EndpointQueue(names, shared);
  queue.adopt(gate);
  const missingBodies = new MissingBodies();
  missingBodies.note("e1", "without", Date.now());
  missingBodies.note("other", "of another endpoint", Date.now());
  let claimed: ClaimScope | undefined;
  const deps = {
    directory: { find: async () => endpoint },
    gates: { ensureKnown: async () => {} },
    deliveries: { deletePending: async () => {} },
    lanes: {
      claim: async (scope: ClaimScope) => {
        claimed = scope;
        return [];
      },
    },
    bodies,
    missingBodies,
    leaseMs: 20_000,
  };
  await claimLanes(deps, queue, new Date(), () => {});
  return claimed;
}

it("a probe is not of a lane whose body could not be had a moment ago", async () => {
  const now = Date.now();
  const open = { since: now - 60_000, nextProbeAt: now - 1, spacingMs: 5_000 };
  expect(await scopeOf({ ...newGate, open })).toMatchObject({ limit: 1, without: ["without"] });
  expect(await scopeOf(newGate)).toMatchObject({ without: [] });
});
