import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
  preParsingHookHandler,
} from "fastify";
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
  /** Registers a request before its body is read: `bodies/receive-bodies.ts`. */
  readonly expectBody: onRequestHookHandler;
  /**
   * Refuses when the parser refused a part of the body while the route's checks waited:
   * `unreadable-requests.ts`.
   */
  readonly refuseBroken: preParsingHookHandler;
}

/**
 * Sets the order in which the steps of a request run. After `expectBody` comes the route's own
 * `checkRoute`, after `refuseBroken` the body is read, then the URL is validated by the route's
 * schemas, and `mount-routes.ts` runs the handler in a slot of its tenant.
 */
export function orderSteps(app: FastifyInstance, steps: RequestSteps): void {
  app.addHook("onRequest", steps.open);
  app.addHook("onRequest", steps.admit);
  app.addHook("onRequest", steps.awaitParser);
  app.addHook("onRequest", steps.expectBody);
  app.addHook("preParsing", steps.refuseBroken);
}

/** A step that Fastify waits for when it returns a promise. */
type RouteStep = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => Promise<void> | void;

/** The checks of a request to a route: its key and scope, the charge of a write, the headers of its body. */
export function checkRoute(route: Route<never>, checks: RequestChecks): RouteStep {
  const { method, scope } = route;
  return (request, reply, done) => {
    const keyChecked = scope === "open" ? undefined : checks.checkKey(request, route);
    const charged = andThen(keyChecked, () => (method === "GET" ? undefined : checks.chargeWrite(request, reply)));
    const checked = andThen(charged, () => checks.checkBody(request, route));
    // Fastify waits for the promise, if there is one.
    if (!checked) done();
    return checked;
  };
}

/** Runs `step` at once when nothing before it waits, as in most requests, else after `before`. */
function andThen(before: Promise<void> | void, step: () => Promise<void> | void): Promise<void> | void {
  return before ? before.then(step) : step();
}
