import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { DomainError } from "@vidimus/kit/errors";
import type { Phrase, PhraseDraft } from "./phrase.ts";

export const pageRowsMax = 200;

/** A position in a dictionary: the key of the last phrase before it. */
export type PhrasePosition = Pick<PhraseDraft, "language" | "phrase">;

export interface PageQuery {
  /** Exactly this language; undefined for all. */
  readonly language: string | undefined;
  /** Only phrases whose text contains this, ignoring case; "" for all. */
  readonly contains: string;
  /** Position of the page; undefined for the first page. */
  readonly after: PhrasePosition | undefined;
  readonly limit: number;
}

/** A page of a dictionary, ordered by language and text. */
export interface PhrasePage {
  readonly phrases: readonly Phrase[];
  /** Position of the next page; undefined when this is the last. */
  readonly next: PhrasePosition | undefined;
}

/**
 * Longest page token that is read. The longest that is made has 1,424 characters: a phrase of 256
 * four-byte characters and its language, in base64.
 */
const tokenCharsMax = 2_048;

/** A position as a page token; "" for none. */
export function toPageToken(position: PhrasePosition | undefined): string {
  return position ? encodeOpaqueToken([position.language, position.phrase]) : "";
}

/**
 * The position in a page token; undefined for "".
 *
 * @throws DomainError `invalid` when it is not a page token, or is a token of another language
 */
export function readPageToken(token: string, language: string | undefined): PhrasePosition | undefined {
  if (token === "") return undefined;
  const [of, phrase] = decodeOpaqueToken(token, tokenCharsMax) ?? [];
  const isPosition = typeof of === "string" && typeof phrase === "string";
  if (isPosition && (language === undefined || of === language)) return { language: of, phrase };
  throw new DomainError("invalid", "page_token must be one that an earlier page of the same request gave");
}
