import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { DomainError } from "@vidimus/kit/errors";
import type { Phrase, PhraseDraft } from "./phrase.ts";

/** Most phrases of a page. */
export const pageRowsMax = 200;

/** A place in a dictionary, by the key of the phrase that stands before it. */
export type PhrasePlace = Pick<PhraseDraft, "language" | "phrase">;

/** Selects a page of a dictionary. */
export interface PageQuery {
  /** Exactly this language; undefined for all. */
  readonly language: string | undefined;
  /** Only phrases with this in their text, in any case; "" for all. */
  readonly contains: string;
  /** Where the page begins; undefined for the top. */
  readonly after: PhrasePlace | undefined;
  readonly limit: number;
}

/** A page of a dictionary, ordered by language and text. */
export interface PhrasePage {
  readonly phrases: readonly Phrase[];
  /** Where the next page begins; undefined when this is the last. */
  readonly next: PhrasePlace | undefined;
}

/** A phrase of 256 characters of four bytes each and its language have 1,424 in base64. */
const tokenCharsMax = 2_048;

/** A place as a page token; "" for none. */
export function toPageToken(place: PhrasePlace | undefined): string {
  return place ? encodeOpaqueToken([place.language, place.phrase]) : "";
}

/**
 * The place that a page token names; undefined for "".
 *
 * @throws DomainError `invalid` when no page of the language gave it
 */
export function readPageToken(token: string, language: string | undefined): PhrasePlace | undefined {
  if (token === "") return undefined;
  const [of, phrase] = decodeOpaqueToken(token, tokenCharsMax) ?? [];
  const isPlace = typeof of === "string" && typeof phrase === "string";
  if (isPlace && (language === undefined || of === language)) return { language: of, phrase };
  throw new DomainError("invalid", "page_token must be one that an earlier page of the same request gave");
}
