import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Fate, LaneModel, type Reaction } from "../../test/support/lane-model.ts";

const reaction = fc.constantFrom<Reaction>("accepted", "refused", "refused", "failed", "lostAnswer");

/**
 * `arrive`: a snapshot arrives while nothing is in flight. `wait`: time passes. `walk`: a process
 * claims the lane and makes up to twelve attempts. Between the receiver's reaction and the
 * journaling of the attempt, nothing happens, a snapshot arrives, the process dies, or another
 * process takes the lane over, so that the first one journals too late.
 */
const event = fc.oneof(
  fc.record({ kind: fc.constant("arrive" as const) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 120 }) }),
  fc.record({
    kind: fc.constant("walk" as const),
    attempts: fc.array(
      fc.tuple(
        reaction,
        fc.constantFrom("journal", "journal", "journal", "arrival", "death", "takeover"),
        fc.double({ min: 0, max: 1, noNaN: true }),
      ),
      { minLength: 1, maxLength: 12 },
    ),
  }),
);

function run(model: LaneModel, events: readonly (typeof event extends fc.Arbitrary<infer E> ? E : never)[]): void {
  for (const each of events) {
    if (each.kind === "arrive") model.arrive();
    if (each.kind === "wait") model.now += each.ms;
    if (each.kind === "walk" && model.isDue) walk(model, each.attempts);
  }
}

function walk(model: LaneModel, attempts: readonly (readonly [Reaction, string, number])[]): void {
  let held = model.claim();
  for (const [reacts, meanwhile, random] of attempts) {
    model.post(held, reacts);
    model.now += 1;
    if (meanwhile === "death") return;
    if (meanwhile === "arrival") model.arrive();
    if (meanwhile === "takeover") {
      const late = held;
      held = model.claim();
      expect(model.journal(late, reacts, random)).toBeUndefined();
      continue;
    }
    const next = model.journal(held, reacts, random);
    if (!next) return;
    held = next;
  }
}

/** A row is given up when it would be over 400 ms old at its next attempt, 48 ms later at most. */
const youngestGivenUpMs = 400 - 48;

/** Lets the receiver accept every row until none is pending. */
function drain(model: LaneModel): void {
  for (let turn = 0; model.pending.length > 0; turn++) {
    if (turn > 10_000) throw new Error("the lane never ends");
    model.now += 1_000;
    let held: ReturnType<LaneModel["claim"]> | undefined = model.claim();
    while (held) {
      model.post(held, "accepted");
      held = model.journal(held, "accepted", 0.5);
    }
  }
}

describe("a lane, through random arrivals, answers, crashes and takeovers,", () => {
  it("sends no older snapshot once the receiver has a newer one, even if the answer was lost", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60, size: "max" }), (events) => run(new LaneModel(), events)),
      { numRuns: 2_000 },
    );
  });

  it("ends every snapshot as delivered, as superseded by a newer one that was delivered, or as too old", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60, size: "max" }), (events) => {
        const model = new LaneModel();
        run(model, events);
        for (const { fate, createdAt, endedAt = 0 } of model.rows) {
          if (fate === "exhausted") expect(endedAt - createdAt.getTime()).toBeGreaterThan(youngestGivenUpMs);
        }
        const before = model.pending.length;
        const posts = model.posts.length;
        drain(model);
        expect(model.posts.length - posts).toBeLessThanOrEqual(before);
        for (const { sequence, fate } of model.rows) {
          const isFollowed = (wanted: Fate) => model.rows.some((row) => row.sequence > sequence && row.fate === wanted);
          if (fate === "superseded") expect(isFollowed("delivered")).toBe(true);
          expect(fate).not.toBe("pending");
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
