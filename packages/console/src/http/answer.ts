import type { Readable } from "node:stream";
import type { Html } from "../markup/html.ts";

/** A cookie to set, or to remove when it has no value. */
export interface CookieChange {
  readonly kind: CookieKind;
  readonly value?: string;
  /** Seconds until the cookie ends; by default it ends with the browser. */
  readonly maxAgeSeconds?: number;
}

export type CookieKind = "session" | "sign_in" | "invitation";

export interface PageAnswer {
  readonly status: number;
  readonly page: Html;
  readonly cookies?: readonly CookieChange[];
}

/** Sends the browser to another URL with GET, also after a POST. */
interface RedirectAnswer {
  readonly to: string;
  readonly cookies?: readonly CookieChange[];
}

/** A file that never changes under its path. */
interface AssetAnswer {
  readonly type: string;
  readonly asset: string;
}

/** A file for the browser to save. Its name must not contain quotes. */
export interface FileAnswer {
  readonly type: string;
  readonly name: string;
  readonly file: string | Readable;
}

export type Answer = PageAnswer | RedirectAnswer | AssetAnswer | FileAnswer;
