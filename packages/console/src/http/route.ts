import type { CallOptions } from "@connectrpc/connect";
import type { Membership } from "../rpc/memberships.ts";
import type { RoundCounter } from "../rpc/rounds.ts";
import type { Right } from "../domain/rights.ts";
import type { Session } from "../domain/session.ts";
import type { Answer, CookieKind } from "./answer.ts";
import type { Upload, UploadLimits } from "./upload.ts";

/** A request as pages see it. */
export interface Call {
  /** Request id for log lines, here and in the services that are called. */
  readonly requestId: string;
  readonly query: URLSearchParams;
  /** Fields of a url-encoded POST; empty for any other request. */
  readonly form: URLSearchParams;
  /** The URL in the browser. */
  readonly url: URL;
  /** IP address of the browser. */
  readonly from: string;
  readonly userAgent: string;
  readonly now: Date;
  /** Aborts when the browser has left, and once it has the answer. */
  readonly signal: AbortSignal;
  readonly rounds: RoundCounter;
  cookie(kind: CookieKind): string;
  /** Writes a log line about a part of the page, missing because a service did not answer. */
  noteMissing(service: string, error: unknown): void;
  /**
   * Reads a form with a file or with long texts. A multipart body is read only by this call, so not
   * before the sender is known to have the page's right. At most two such forms are in memory at
   * the same time, one of each tenant; one that waits too long for its turn is refused with
   * `exhausted`.
   */
  withUpload<T>(limits: UploadLimits, use: (upload: Upload) => Promise<T>): Promise<T>;
}

/** A signed-in person, with the memberships that hold at the time of the request. */
export interface Person {
  /** Secret id in the session's cookie. */
  readonly cookieId: string;
  readonly session: Session;
  /** `person:` and 32 hex digits. */
  readonly memberId: string;
  /** Sorted by tenant id; empty for a member of no tenant. */
  readonly memberships: readonly Membership[];
  /**
   * Membership in the tenant of the page's URL. On pages without a tenant, in the tenant that was
   * last chosen, else in the first. Undefined for a member of no tenant.
   */
  readonly current: Membership | undefined;
}

export interface PersonCall extends Call {
  readonly person: Person;
}

/** A call by a member of the tenant in the URL who has the page's right. */
export interface TenantCall extends PersonCall {
  readonly tenant: Membership;
  /** Parameters of the route's path, such as `key` of `/keys/:key`. */
  readonly params: Readonly<Record<string, string>>;
  /** Role in which the person acts; see `roleFor`. */
  readonly role: string;
  /** Options of the page's calls to services; see `actingAs`. */
  readonly rpc: CallOptions;
  /** The address of a page of this tenant: `at("/keys")` is `/t/demo/keys`. */
  at(path: string): string;
}

interface RouteBase {
  readonly method: "GET" | "POST";
}

/** A page for everybody; it may look up who calls. */
export interface OpenRoute extends RouteBase {
  readonly access: "open";
  /** A path without parameters such as `:key`; parameters are in the query. */
  readonly url: string;
  handle(call: Call, whoIs: () => Promise<Person | undefined>): Promise<Answer>;
}

interface SignedInRoute extends RouteBase {
  /**
   * From field name to label: when the sender must sign in first, these fields are shown again with
   * what was typed, and sent again. A field with the label "" is only sent again. Never secrets or
   * codes.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** What is shown for the value of a field; the value itself by default. */
  inWords?(value: string): string;
  /** From field name to label: fields with secrets, which the sender must type once more. */
  readonly secretFields?: Readonly<Record<string, string>>;
  /** Whether `withUpload` reads the form: not before the sign-in, so it cannot be shown again. */
  readonly isUpload?: true;
  /** Whether the page needs a sign-in within the last 15 minutes. */
  readonly recentSignIn?: true;
  /** Largest url-encoded form, in bytes; 64 KiB by default. */
  readonly formBytesMax?: number;
}

export interface PersonRoute extends SignedInRoute {
  readonly access: "signed in";
  /** A path without parameters such as `:key`; parameters are in the query. */
  readonly url: string;
  handle(call: PersonCall): Promise<Answer>;
}

/** A page for members of a tenant. For other people it is 404, as for an unknown tenant. */
export interface TenantRoute extends SignedInRoute {
  readonly access: "member";
  /** Path after `/t/{tenant}`, for example "" or `/keys/:key`. */
  readonly path: string;
  readonly right: Right;
  handle(call: TenantCall): Promise<Answer>;
}

export type Route = OpenRoute | PersonRoute | TenantRoute;
