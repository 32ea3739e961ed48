import type { FastifyInstance } from "fastify";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  // The script reads pages again to show the progress of a replay.
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** The headers of every answer, also of errors. Answers with an asset replace `cache-control`. */
export function securityHeaders({ protocol }: URL) {
  return {
    "content-security-policy": policy,
    // With `no-referrer` browsers would send `Origin: null` with forms, which `checkRequests`
    // refuses when a browser sends no `Sec-Fetch-Site`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    ...(protocol === "https:" && { "strict-transport-security": "max-age=31536000" }),
  };
}

export function addSecurityHeaders(app: FastifyInstance, origin: URL): void {
  const headers = securityHeaders(origin);
  app.addHook("onRequest", (_request, reply, done) => {
    void reply.headers(headers);
    done();
  });
}
