import type { BeginTurns } from "@vidimus/kit/fair/begin-turns";
import type { TenantSlots } from "@vidimus/kit/fair/tenant-slots";
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
  preParsingHookHandler,
  RouteHandlerMethod,
} from "fastify";
import type { Answer } from "./answers/answer.ts";
import type { AnswerBuffers } from "./answers/answer-buffers.ts";
import type { ReleaseBody } from "./bodies/receive-bodies.ts";
import type { RequestChecks } from "./request-checks.ts";
import type { Route } from "./route.ts";

/** The steps of every request, whatever its route. */
interface RequestSteps {
  /** Sets start time, trace and common headers; records the request when it ends: `exchange/`. */
  readonly open: onRequestHookHandler;
  /**
   * Refuses with 429 for the address, 400 for a bad target or a missing Host, 404 for an unknown
   * path: `admit-request.ts`.
   */
  readonly admit: onRequestHookHandler;
  /** Refuses when the parser refused bytes after the request's head: `unreadable-requests.ts`. */
  readonly awaitParser: onRequestHookHandler;
  /** Makes sure that a body's memory is released at the end: `bodies/receive-bodies.ts`. */
  readonly expectBody: onRequestHookHandler;
  /**
   * Refuses when the parser refused a part of the body while the route's checks waited:
   * `unreadable-requests.ts`.
   */
  readonly refuseBroken: preParsingHookHandler;
}

/**
 * Sets the order in which the steps of every request run. After `expectBody` comes the `onRequest`
 * of its path, from `orderRouteSteps` or `orderOtherMethod`.
 */
export function orderSteps(app: FastifyInstance, steps: RequestSteps): void {
  app.addHook("onRequest", steps.open);
  app.addHook("onRequest", steps.admit);
  app.addHook("onRequest", steps.awaitParser);
  app.addHook("onRequest", steps.expectBody);
  app.addHook("preParsing", steps.refuseBroken);
}

export interface HandlerResources {
  /** Shares the event loop between requests that arrive together. */
  readonly turns: Pick<BeginTurns, "take">;
  readonly slots: Pick<TenantSlots, "take">;
  readonly answers: Pick<AnswerBuffers, "reserveStream" | "prepare" | "weightOf" | "send">;
  readonly releaseBody: ReleaseBody;
}

/** Runs a route's handler, which may release the slot before its answer: `mount-routes.ts`. */
export type RunHandler = (request: FastifyRequest, reply: FastifyReply, releaseSlot: () => void) => Promise<Answer>;

/**
 * The steps of a request to a route. Between `onRequest` and `handler`, `refuseBroken` runs, the
 * body is read, and the URL is validated by the route's schemas.
 */
export function orderRouteSteps(route: Route<never>, checks: RequestChecks, run: RunHandler, shared: HandlerResources) {
  return { onRequest: checkRoute(route, checks), handler: handleInSlot(route, run, shared) };
}

/** Answers a method without a route before the key, the body and the URL are checked. */
export function orderOtherMethod(answer: onRequestAsyncHookHandler) {
  return { onRequest: answer, handler: () => undefined };
}

/** Calls `done`, or returns a promise, for which Fastify waits. */
type RouteStep = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => Promise<void> | void;

function checkRoute(route: Route<never>, checks: RequestChecks): RouteStep {
  const { method, scope } = route;
  return (request, reply, done) => {
    const keyChecked = scope === "open" ? undefined : checks.checkKey(request, route);
    const charged = andThen(keyChecked, () => (method === "GET" ? undefined : checks.chargeWrite(request, reply)));
    const checked = andThen(charged, () => checks.checkBody(request, route));
    if (!checked) done();
    return checked;
  };
}

/** Runs `step` at once when nothing before it waits, as in most requests, else after `before`. */
function andThen(before: Promise<void> | void, step: () => Promise<void> | void): Promise<void> | void {
  return before ? before.then(step) : step();
}

/**
 * A request holds a slot only while its handler works and its answer is prepared. None is held
 * while the body arrives or the client reads, because the client decides how long that takes.
 */
function handleInSlot(
  { streams }: Pick<Route<never>, "streams">,
  run: RunHandler,
  { turns, slots, answers, releaseBody }: HandlerResources,
): RouteHandlerMethod {
  return async (request, reply) => {
    const tenantId = request.caller?.tenantId ?? "";
    await turns.take(tenantId);
    const slot = await slots.take(tenantId);
    const releaseSlot = () => slot.release(0);
    try {
      // The body of a request whose client left is released, so its handler would see an empty one.
      if (reply.raw.closed) return reply.hijack();
      if (streams) answers.reserveStream(request, reply);
      const answer = await answers.prepare(request, reply, await run(request, reply, releaseSlot));
      const weight = answers.weightOf(answer);
      if (weight > 0) await turns.take(tenantId, weight);
      return answers.send(request, reply, answer);
    } finally {
      releaseSlot();
      releaseBody(request);
    }
  };
}
