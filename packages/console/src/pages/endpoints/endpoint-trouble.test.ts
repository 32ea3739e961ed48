import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EndpointSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { expect, it } from "vitest";
import { lastAccepted, standingOf } from "./endpoint-state.ts";
import { troubleNote } from "./endpoint-trouble.ts";

type Shown = MessageInitShape<typeof EndpointSchema>;

const now = new Date("2026-11-26T12:00:00Z");
const ago = (minutes: number) => timestampFromDate(new Date(now.getTime() - minutes * 60_000));
const healthy = { gate: "closed" };
const waiting = { ...healthy, pendingDocuments: 3n };

const cases: readonly (readonly [string, Shown, note: string, next: string])[] = [
  [
    "behind",
    { health: { ...waiting, oldestPendingAt: ago(11) } },
    "It is behind. Behind it: at least 3 deliveries wait",
    "Sending goes on by itself.",
  ],
  [
    "retrying",
    { health: { ...waiting, oldestPendingAt: ago(1), lastFailure: { status: 503 } } },
    "It did not accept the last attempt.",
    "It is tried again by itself.",
  ],
  [
    "failing",
    { health: { ...waiting, gate: "open", openSince: ago(5) } },
    "It fails again and again. That began",
    "One attempt at a time goes out",
  ],
  [
    "failing",
    { health: { ...waiting, gate: "probing" } },
    "It fails again and again.",
    "One attempt at a time goes out",
  ],
  [
    "waits",
    { health: { ...waiting, gate: "paused", oldestPendingAt: ago(1) } },
    "It asked for a pause.",
    "Sending goes on by itself.",
  ],
  [
    "paused",
    { disablement: { reason: "operator", actor: "cli:ada", at: ago(3) }, health: healthy },
    "by cli:ada . Nothing is held for it.",
    "It stays so until somebody starts it.",
  ],
  [
    "gone",
    { disablement: { reason: "gone", at: ago(3) }, health: { ...healthy, heldDeliveries: 2, oldestHeldAt: ago(2) } },
    "because the receiver answered 410 Gone twice. 2 deliveries are held for it, the oldest",
    "It stays off until somebody starts it.",
  ],
  [
    "unopened",
    { health: { gate: "unopened" } },
    "Rotate its secret and give its headers again",
    "nothing happens by itself.",
  ],
  ["unknown", {}, "How it does could not be found out.", "Load the page again in a moment."],
];

it.each(cases)(
  "the note on an endpoint in the state %s says what is wrong, and what happens next",
  (standing, shown, note, next) => {
    const endpoint = create(EndpointSchema, shown);
    expect(standingOf(endpoint, now)).toBe(standing);
    const said = String(troubleNote(endpoint, new Map(), now))
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");
    expect(said).toContain(note);
    expect(said).toContain(next);
  },
);

it("an endpoint whose oldest delivery has waited for nine minutes is healthy, and has no note", () => {
  const health = { ...waiting, oldestPendingAt: ago(9), lastAcceptedAt: ago(20) };
  const endpoint = create(EndpointSchema, { health });
  expect(standingOf(endpoint, now)).toBe("ok");
  expect(troubleNote(endpoint, new Map(), now)).toBeUndefined();
});

it("an endpoint is not called healthy while it is young and has accepted nothing", () => {
  const endpoint = (createdAt: Date) =>
    create(EndpointSchema, { health: healthy, createdAt: timestampFromDate(createdAt) });
  const [young, old] = [endpoint(new Date("2026-11-26T11:59:00Z")), endpoint(new Date("2026-10-01T12:00:00Z"))];
  expect([young, old].map((each) => standingOf(each, now))).toEqual(["unproven", "ok"]);
  expect([young, old].map((each) => lastAccepted(each, now))).toEqual([
    "nothing yet; pings do not count",
    "not in the last 30 days",
  ]);
  expect(troubleNote(young, new Map(), now)).toBeUndefined();
});
