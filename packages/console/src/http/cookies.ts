import type { FastifyReply, FastifyRequest } from "fastify";
import type { CookieChange, CookieKind } from "./answer.ts";

/**
 * The console's cookies. Under https their names begin with `__Host-`, so that no other host and no
 * plaintext page can set them. On plain http, which only this machine can reach, browsers refuse
 * that prefix. Cookies ignore ports, so these names contain the port, and two stacks on a machine
 * do not overwrite each other's cookies.
 */
export class Cookies {
  readonly #secure: boolean;
  readonly #port: string;

  constructor(origin: URL) {
    this.#secure = origin.protocol === "https:";
    this.#port = origin.port || "80";
  }

  nameOf(kind: CookieKind): string {
    return this.#secure ? `__Host-vidimus_${kind}` : `vidimus_${kind}_${this.#port}`;
  }

  /** The value of a cookie; "" when the browser sent none. */
  read(request: FastifyRequest, kind: CookieKind): string {
    return request.cookies[this.nameOf(kind)] ?? "";
  }

  set(reply: FastifyReply, changes: readonly CookieChange[]): void {
    const base = { path: "/", httpOnly: true, secure: this.#secure, sameSite: "lax" } as const;
    for (const { kind, value, maxAgeSeconds } of changes) {
      const maxAge = value === undefined ? 0 : maxAgeSeconds;
      void reply.setCookie(this.nameOf(kind), value ?? "", { ...base, ...(maxAge !== undefined && { maxAge }) });
    }
  }
}
