import type { Membership } from "../rpc/memberships.ts";
import type { Session } from "../sessions/session.ts";
import type { Answer } from "./answer.ts";
import type { CookieKind } from "./answer.ts";

/** A request as pages see it. */
export interface Call {
  /** For logs, here and in the services that are called. */
  readonly requestId: string;
  readonly query: URLSearchParams;
  /** Fields of a POST; empty otherwise. */
  readonly form: URLSearchParams;
  /** The URL as the browser sees it. */
  readonly url: URL;
  /** IP address of the browser. */
  readonly from: string;
  readonly userAgent: string;
  readonly now: Date;
  /** Aborted when the browser has gone. */
  readonly signal: AbortSignal;
  cookie(kind: CookieKind): string;
}

/** Someone who has signed in, as of this request. */
export interface Person {
  /** Id in the cookie. A secret. */
  readonly cookieId: string;
  readonly session: Session;
  /** `person:` and 32 hex digits. */
  readonly memberId: string;
  /** By tenant id; empty for a member of none. */
  readonly memberships: readonly Membership[];
  /** In the tenant that was chosen, else in the first; undefined for a member of none. */
  readonly current: Membership | undefined;
}

/** A call of someone who has signed in. */
export interface PersonCall extends Call {
  readonly person: Person;
}

interface RouteBase {
  readonly method: "GET" | "POST";
  /** Without parameters: what a page shows is in its query. */
  readonly url: string;
}

/** A page for everybody; it may ask who calls. */
export interface OpenRoute extends RouteBase {
  readonly access: "open";
  handle(call: Call, whoIs: () => Promise<Person | undefined>): Promise<Answer>;
}

/** A page for people who have signed in. */
export interface PersonRoute extends RouteBase {
  readonly access: "signed in";
  /** Fields that a form shows again when the session has ended meanwhile. Never secrets or codes. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Needs a sign-in of the last 15 minutes. */
  readonly recentSignIn?: true;
  handle(call: PersonCall): Promise<Answer>;
}

export type Route = OpenRoute | PersonRoute;
