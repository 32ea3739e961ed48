import { DomainError } from "@vidimus/kit/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** A request that names another host than the console's, as happens with DNS rebinding. */
export class WrongHost extends Error {}

/** A form of a page that does not belong to the console. */
export class ForeignForm extends DomainError {
  constructor() {
    super("permission_denied", "this form was not sent by a page of this console");
  }
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses requests with another `Host`, and those with an unsafe method that no page of the console
 * sent.
 */
export function checkRequests(app: FastifyInstance, origin: URL): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.headers.host?.toLowerCase() !== origin.host) throw new WrongHost();
    if (!safeMethods.has(request.method) && !isOwnForm(request, origin)) throw new ForeignForm();
    done();
  });
}

/**
 * Browsers name the origin of a request in `Sec-Fetch-Site`, older ones only in `Origin`. A request
 * with neither is refused: no browser of the last five years sends one.
 */
function isOwnForm({ headers }: FastifyRequest, { origin }: URL): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined ? headers.origin === origin : site === "same-origin";
}
