import type { Html } from "../pages/html.ts";

/** A cookie to set, or to remove when it has no value. */
export interface CookieChange {
  readonly kind: CookieKind;
  readonly value?: string;
  /** Until the browser ends unless stated. */
  readonly maxAgeSeconds?: number;
}

/** What the console keeps in a browser. */
export type CookieKind = "session" | "sign_in" | "invitation";

/** A page. */
export interface PageAnswer {
  readonly status: number;
  readonly page: Html;
  readonly cookies?: readonly CookieChange[];
}

/** Sends the browser to another page, or to the issuer, with GET. */
export interface RedirectAnswer {
  readonly to: string;
  readonly cookies?: readonly CookieChange[];
}

/** A file that never changes under its path. */
export interface AssetAnswer {
  readonly type: string;
  readonly asset: string;
}

/** What a route answers. */
export type Answer = PageAnswer | RedirectAnswer | AssetAnswer;
