/**
 * Decides how many attempts an endpoint may get now, from its breaker, ramp, rate, `Retry-After`
 * and concurrency. The functions are pure: the caller keeps the state, which is plain data and can
 * be stored, and passes the time.
 */
import { retryAfterMsMax } from "./retry-plan.ts";

export interface GateLimits {
  readonly maxInFlight: number;
  /**
   * Most attempts a second on average; as many, at least one, may start at once after a rest.
   * Absent for no limit.
   */
  readonly ratePerSecond?: number;
}

/** What is remembered of an endpoint's answers. Times are milliseconds since 1970. */
export interface GateState {
  /**
   * Failed attempts since the last accepted one. The breaker counts them, and `refusals` as well
   * once three lanes were refused.
   */
  readonly failures: number;
  readonly refusals: number;
  /** The first lanes that were refused since the last accepted attempt, at most three. */
  readonly refusedLanes: readonly string[];
  /** Present while the breaker is open, when the lanes get only probes. */
  readonly open?: OpenBreaker;
  /** Most attempts in flight during the ramp after a recovery; absent otherwise. */
  readonly ramp?: number;
  /** The latest end of a `Retry-After`. */
  readonly pausedUntil?: number;
  /** Time of the first 410 since the endpoint last accepted an attempt or was enabled. */
  readonly goneAt?: number;
  /** The rate's token bucket after the last attempt; absent before the first, when it is full. */
  readonly bucket?: { readonly tokens: number; readonly at: number };
}

interface OpenBreaker {
  readonly since: number;
  readonly nextProbeAt: number;
  /** The wait before the next probe, before jitter. A failed probe doubles it, up to a limit. */
  readonly spacingMs: number;
}

/** The attempts of this process. They are not stored, because they end with the process. */
export interface InFlight {
  readonly attempts: number;
  readonly isProbing: boolean;
}

/** The attempts that may start now, besides those in flight. */
export type Admission =
  | { readonly kind: "attempts"; readonly count: number }
  /** A single attempt. Its failure costs its delivery no step of the backoff. */
  | { readonly kind: "probe" }
  /** No attempt before `until`; when that is absent, not before an attempt in flight has ended. */
  | { readonly kind: "none"; readonly until?: number };

/** The end of an attempt, with or without an answer. */
export interface GateAnswer {
  readonly lane: string;
  /**
   * `accepted`: 2xx. `gone`: 410. `refused`: any other answer except 408, 429, 502, 503 and 504.
   * `failed`: one of these, or no answer.
   */
  readonly result: "accepted" | "refused" | "failed" | "gone";
  readonly retryAfterMs?: number | undefined;
  readonly probe: boolean;
}

export interface GateChange {
  readonly state: GateState;
  /** `gone`: a 410 at least a minute after the first one; the endpoint is to be disabled. */
  readonly event?: "opened" | "recovered" | "gone";
}

export const newGate: GateState = { failures: 0, refusals: 0, refusedLanes: [] };

/** Whether a state must be stored for other replicas. */
export function isTrouble({ open, pausedUntil = 0, goneAt }: GateState, now: number): boolean {
  return open !== undefined || pausedUntil > now || goneAt !== undefined;
}

/** Whether the state for other replicas must be stored, replaced or deleted. */
export function isNews(before: GateState, after: GateState): boolean {
  return before.open !== after.open || before.pausedUntil !== after.pausedUntil || before.goneAt !== after.goneAt;
}

/** Whether a state may be forgotten: it contains at most a past `Retry-After`. */
export function isBlank(state: GateState, now: number): boolean {
  const { failures, refusals, open, ramp, pausedUntil = 0, goneAt, bucket } = state;
  return (
    failures + refusals === 0 && !open && ramp === undefined && pausedUntil <= now && goneAt === undefined && !bucket
  );
}

const failuresToOpen = 5;
const lanesToBlame = 3;
const firstSpacingMs = 5_000;
const earlySpacingMsMax = 60_000;
const lateSpacingMsMax = 5 * 60_000;
/** How long after its opening a breaker limits `spacingMs` to `earlySpacingMsMax`. */
const earlyMs = 15 * 60_000;
const jitter = 0.2;
const goneAgainMs = 60_000;

export function admit(state: GateState, limits: GateLimits, inFlight: InFlight, now: number): Admission {
  if (state.pausedUntil !== undefined && now < state.pausedUntil) return { kind: "none", until: state.pausedUntil };
  if (state.open) return admitProbe(state.open, inFlight, now);
  const slots = Math.min(limits.maxInFlight, state.ramp ?? limits.maxInFlight) - inFlight.attempts;
  if (slots <= 0) return { kind: "none" };
  // A probe takes a token even if there is none, so there may be fewer than zero.
  const tokens = Math.floor(tokensAt(state, limits, now));
  if (tokens < 1) return { kind: "none", until: nextTokenAt(state, limits, now) };
  return { kind: "attempts", count: Math.min(slots, tokens) };
}

function admitProbe({ nextProbeAt }: OpenBreaker, { isProbing }: InFlight, now: number): Admission {
  if (isProbing) return { kind: "none" };
  return now < nextProbeAt ? { kind: "none", until: nextProbeAt } : { kind: "probe" };
}

/**
 * When the next probe of an open breaker is due; undefined while the breaker is closed or a probe
 * is in flight.
 */
export function probeAt({ open, pausedUntil = 0 }: GateState, { isProbing }: InFlight): number | undefined {
  return open && !isProbing ? Math.max(open.nextProbeAt, pausedUntil) : undefined;
}

export function start(state: GateState, limits: GateLimits, count: number, now: number): GateState {
  if (limits.ratePerSecond === undefined) return state;
  return { ...state, bucket: { tokens: tokensAt(state, limits, now) - count, at: now } };
}

/**
 * The state when a probe ended without an attempt, for example because its body could not be
 * fetched. This says nothing about the endpoint, so the next probe waits 5 s and the spacing stays.
 */
export function abandonProbe(state: GateState, now: number): GateState {
  return state.open ? { ...state, open: { ...state.open, nextProbeAt: now + firstSpacingMs } } : state;
}

/**
 * Makes the next probe of an open breaker due at once, or at the end of the receiver's
 * `Retry-After`, because the receiver may have been repaired.
 */
export function wantProbe(state: GateState, now: number): GateState {
  if (!state.open || state.open.nextProbeAt <= now) return state;
  return { ...state, open: { ...state.open, nextProbeAt: now } };
}

/**
 * Removes a first 410 from before the endpoint was last enabled; with it, the next 410 would
 * disable the endpoint again at once.
 */
export function forgetGone(state: GateState, enabledAt: Date | undefined): GateState {
  const { goneAt, ...rest } = state;
  return goneAt !== undefined && enabledAt && goneAt < enabledAt.getTime() ? rest : state;
}

/**
 * The state after an answer. The failure of an attempt that was in flight when the breaker opened
 * postpones the next probe only by its `Retry-After`.
 *
 * @param random from 0 to 1, for the jitter of ±20 % between probes
 */
export function settle(
  state: GateState,
  limits: GateLimits,
  answer: GateAnswer,
  now: number,
  random: number,
): GateChange {
  if (answer.result === "accepted") return accept(state, limits);
  const blamed = pause(blame(state, answer), answer, now);
  const { state: settled, event } = count(blamed, answer, now, random);
  if (answer.result !== "gone") return event ? { state: settled, event } : { state: settled };
  const { goneAt = now } = settled;
  const change = { state: { ...settled, goneAt } };
  if (now - goneAt >= goneAgainMs) return { ...change, event: "gone" };
  return event ? { ...change, event } : change;
}

function count(state: GateState, { probe }: GateAnswer, now: number, random: number): GateChange {
  if (state.open) return { state: probe ? { ...state, open: nextProbe(state.open, now, random) } : state };
  if (failuresOf(state) < failuresToOpen) return { state: slowDown(state) };
  const { ramp: _, ...rest } = state;
  const open = { since: now, spacingMs: firstSpacingMs };
  return { state: { ...rest, open: { ...open, nextProbeAt: now + spread(firstSpacingMs, random) } }, event: "opened" };
}

/** The `Retry-After` of another answer stays in force. */
function accept({ open, ramp, pausedUntil, bucket }: GateState, { maxInFlight }: GateLimits): GateChange {
  const kept = { ...newGate, ...(pausedUntil === undefined ? {} : { pausedUntil }), ...(bucket ? { bucket } : {}) };
  if (open) return { state: maxInFlight > 1 ? { ...kept, ramp: 1 } : kept, event: "recovered" };
  const wider = ramp === undefined ? undefined : ramp + 1;
  return { state: wider === undefined || wider >= maxInFlight ? kept : { ...kept, ramp: wider } };
}

function blame(state: GateState, { result, lane }: GateAnswer): GateState {
  if (result === "failed") return { ...state, failures: state.failures + 1 };
  const known = state.refusedLanes.includes(lane) || state.refusedLanes.length === lanesToBlame;
  const refusedLanes = known ? state.refusedLanes : [...state.refusedLanes, lane];
  return { ...state, refusals: state.refusals + 1, refusedLanes };
}

function failuresOf({ failures, refusals, refusedLanes }: GateState): number {
  return refusedLanes.length < lanesToBlame ? failures : failures + refusals;
}

function pause(state: GateState, { retryAfterMs }: GateAnswer, now: number): GateState {
  if (retryAfterMs === undefined) return state;
  return { ...state, pausedUntil: Math.max(state.pausedUntil ?? 0, now + Math.min(retryAfterMs, retryAfterMsMax)) };
}

function slowDown(state: GateState): GateState {
  return state.ramp === undefined ? state : { ...state, ramp: Math.max(1, Math.floor(state.ramp / 2)) };
}

function nextProbe(open: OpenBreaker, now: number, random: number): OpenBreaker {
  const most = now - open.since < earlyMs ? earlySpacingMsMax : lateSpacingMsMax;
  const spacingMs = Math.min(2 * open.spacingMs, most);
  return { ...open, spacingMs, nextProbeAt: now + spread(spacingMs, random) };
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (1 - jitter + 2 * jitter * random));
}

function tokensAt({ bucket }: GateState, { ratePerSecond }: GateLimits, now: number): number {
  if (ratePerSecond === undefined) return Number.MAX_SAFE_INTEGER;
  const most = Math.max(1, ratePerSecond);
  if (!bucket) return most;
  return Math.min(most, bucket.tokens + (Math.max(0, now - bucket.at) * ratePerSecond) / 1000);
}

function nextTokenAt(state: GateState, limits: GateLimits, now: number): number {
  const missing = 1 - tokensAt(state, limits, now);
  return now + Math.ceil((missing * 1000) / (limits.ratePerSecond ?? 1));
}
