import { DomainError } from "@vidimus/kit/errors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** A request whose `Host` is not the console's, as happens with DNS rebinding. */
export class WrongHost extends Error {}

/** A request with an unsafe method, such as POST, that no page of the console sent. */
export class ForeignForm extends DomainError {
  constructor() {
    super("permission_denied", "this form was not sent by a page of this console");
  }
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

export function checkRequests(app: FastifyInstance, origin: URL): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.headers.host?.toLowerCase() !== origin.host) throw new WrongHost();
    if (!safeMethods.has(request.method) && !isOwnForm(request, origin)) throw new ForeignForm();
    done();
  });
}

/**
 * Browsers say in `Sec-Fetch-Site` whether a request comes from a page of the same origin; older
 * ones only name the page's origin in `Origin`. A request with neither is refused: every browser of
 * the last five years sends one of the two.
 */
function isOwnForm({ headers }: FastifyRequest, { origin }: URL): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined ? headers.origin === origin : site === "same-origin";
}
