import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendAgainPage } from "../pages/send-again.ts";
import { isRecentSignIn } from "../sessions/recent-sign-in.ts";
import type { Answer } from "./answer.ts";
import type { Cookies } from "./cookies.ts";
import type { Call, Person, PersonRoute, Route } from "./route.ts";

interface MountOptions {
  readonly origin: URL;
  readonly isLoopback: boolean;
  readonly cookies: Cookies;
  findPerson(call: Call): Promise<Person | undefined>;
  now(): Date;
}

/** Adds the routes of the pages to the server. */
export function mountRoutes(app: FastifyInstance, routes: readonly Route[], options: MountOptions): void {
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.url,
      handler: async (request, reply) => {
        const call = callOf(request, reply, options);
        const whoIs = async () => {
          const person = await options.findPerson(call);
          request.who = person && { actor: person.memberId, sessionId: person.session.sessionId };
          return person;
        };
        const answer = await (route.access === "open" ? route.handle(call, whoIs) : admit(route, call, whoIs, options));
        return send(reply, options.cookies, answer);
      },
    });
  }
}

/** Sends people who are not signed in to the sign-in, and keeps what they have typed. */
async function admit(
  route: PersonRoute,
  call: Call,
  whoIs: () => Promise<Person | undefined>,
  { isLoopback }: MountOptions,
): Promise<Answer> {
  const person = await whoIs();
  if (!person) {
    if (route.method === "GET") return { to: signInPath(call.url) };
    return { status: 401, page: sendAgainPage(route, call, "ended") };
  }
  if (route.recentSignIn && !isRecentSignIn(person.session, call.now, isLoopback)) {
    if (route.method === "GET") return { to: signInPath(call.url, "again") };
    return { status: 401, page: sendAgainPage(route, call, "too old") };
  }
  return route.handle({ ...call, person });
}

function signInPath({ pathname, search }: URL, ...flags: readonly "again"[]): string {
  const query = new URLSearchParams({ return: pathname + search });
  for (const flag of flags) query.set(flag, "1");
  return pathname === "/" && search === "" && flags.length === 0 ? "/sign-in" : `/sign-in?${query}`;
}

function callOf(request: FastifyRequest, reply: FastifyReply, { origin, cookies, now }: MountOptions): Call {
  const url = new URL(request.originalUrl, origin);
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return {
    requestId: request.id,
    query: url.searchParams,
    form: request.body instanceof URLSearchParams ? request.body : new URLSearchParams(),
    url,
    from: request.ip,
    userAgent: request.headers["user-agent"] ?? "",
    now: now(),
    signal: gone.signal,
    cookie: (kind) => cookies.read(request, kind),
  };
}

/** Sends an answer. */
export function send(reply: FastifyReply, cookies: Cookies, answer: Answer): FastifyReply {
  if ("asset" in answer) {
    const headers = { "content-type": answer.type, "cache-control": "public, max-age=31536000, immutable" };
    return reply.headers(headers).send(answer.asset);
  }
  cookies.set(reply, answer.cookies ?? []);
  if ("to" in answer) return reply.redirect(answer.to, 303);
  return reply.code(answer.status).type("text/html; charset=utf-8").send(answer.page.toString());
}
