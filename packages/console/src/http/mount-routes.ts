import type { TenantSlots } from "@vidimus/kit/fair/tenant-slots";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Html } from "../markup/html.ts";
import { isRecentSignIn } from "../domain/recent-sign-in.ts";
import type { Answer, FileAnswer } from "./answer.ts";
import type { Cookies } from "./cookies.ts";
import { RoundCounter } from "../rpc/rounds.ts";
import { enterTenant } from "./enter-tenant.ts";
import type { Call, Person, PersonRoute, Route, TenantRoute } from "./route.ts";
import { readUpload } from "./upload.ts";

/**
 * Makes the page that answers a form whose sender must sign in first. The page shows what was typed
 * in the route's `fields`, in a form that can be sent again; of an upload it shows nothing.
 */
type SendAgainPage = (route: PersonRoute | TenantRoute, call: Call, why: "ended" | "too old") => Html;

export interface MountOptions {
  readonly origin: URL;
  readonly isLoopback: boolean;
  readonly cookies: Cookies;
  readonly uploads: Pick<TenantSlots, "take">;
  readonly log: Pick<Logger, "warn">;
  readonly sendAgainPage: SendAgainPage;
  findPerson(call: Call): Promise<Person | undefined>;
  now(): Date;
}

interface WithParams {
  readonly Params: Readonly<Record<string, string>>;
}

export function mountRoutes(app: FastifyInstance, routes: readonly Route[], options: MountOptions): void {
  for (const route of routes) {
    app.route<WithParams>({
      method: route.method,
      url: urlOf(route),
      ...("formBytesMax" in route && route.formBytesMax !== undefined && { bodyLimit: route.formBytesMax }),
      handler: async (request, reply) => {
        const call = callOf(request, reply, options);
        request.rounds = call.rounds;
        const whoIs = async () => {
          const person = await options.findPerson(call);
          request.person = person;
          return person;
        };
        const { params } = request;
        const answer = await (route.access === "open"
          ? route.handle(call, whoIs)
          : admit(route, { call, params }, whoIs, options));
        return send(reply, options.cookies, answer);
      },
    });
  }
}

/** The path that the server matches, such as `/t/:tenant/keys/:key`. */
export function urlOf(route: Route): string {
  return route.access === "member" ? `/t/:tenant${route.path}` : route.url;
}

interface Asked {
  readonly call: Call;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Calls the page for a person who may see it. Without a session, or when the sign-in is too old for
 * the page, a GET redirects to the sign-in page, and a POST is answered with the `SendAgainPage`.
 */
async function admit(
  route: PersonRoute | TenantRoute,
  { call, params }: Asked,
  whoIs: () => Promise<Person | undefined>,
  { isLoopback, sendAgainPage }: MountOptions,
): Promise<Answer> {
  const person = await whoIs();
  if (!person) {
    if (route.method === "GET") return { to: signInPath(call.url) };
    return { status: 401, page: sendAgainPage(route, call, "ended") };
  }
  const asPerson = { ...call, person };
  const handle = route.access === "member" ? enterTenant(route, asPerson, params) : () => route.handle(asPerson);
  if (route.recentSignIn && !isRecentSignIn(person.session, call.now, isLoopback)) {
    if (route.method === "GET") return { to: signInPath(call.url, "again") };
    return { status: 401, page: sendAgainPage(route, call, "too old") };
  }
  return handle();
}

function signInPath({ pathname, search }: URL, ...flags: readonly "again"[]): string {
  const query = new URLSearchParams({ return: pathname + search });
  for (const flag of flags) query.set(flag, "1");
  return pathname === "/" && search === "" && flags.length === 0 ? "/sign-in" : `/sign-in?${query}`;
}

function callOf(request: FastifyRequest<WithParams>, reply: FastifyReply, options: MountOptions): Call {
  const { origin, cookies, uploads, log, now } = options;
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
    rounds: new RoundCounter(),
    cookie: (kind) => cookies.read(request, kind),
    noteMissing: (service, error) =>
      log.warn({ requestId: request.id, missing: service, err: error }, "a part of a page is missing"),
    withUpload: async (limits, use) => {
      using _turn = await uploads.take(request.params["tenant"] ?? "", gone.signal);
      return await use(await readUpload(request, limits));
    },
  };
}

export function send(reply: FastifyReply, cookies: Cookies, answer: Answer): FastifyReply {
  if ("asset" in answer) {
    const headers = { "content-type": answer.type, "cache-control": "public, max-age=31536000, immutable" };
    return reply.headers(headers).send(answer.asset);
  }
  if ("cookies" in answer) cookies.set(reply, answer.cookies ?? []);
  if ("file" in answer) {
    const disposition = `attachment; filename="${answer.name}"`;
    return reply
      .headers({ "content-type": answer.type, "content-disposition": disposition })
      .send(bodyOf(reply, answer));
  }
  if ("to" in answer) return reply.redirect(answer.to, 303);
  return reply.code(answer.status).type("text/html; charset=utf-8").send(Buffer.from(answer.page.toString()));
}

/**
 * The body to send. For HEAD a stream is closed unread, because Fastify would read it to its end to
 * send none of it.
 */
function bodyOf({ request }: FastifyReply, { file }: FileAnswer): FileAnswer["file"] {
  if (request.method !== "HEAD" || typeof file === "string") return file;
  file.destroy();
  return "";
}
