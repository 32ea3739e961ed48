import { LRUCache } from "lru-cache";

export type Encoding = "br" | "gzip";

/** The encodings that answers can have, best first. */
const offered: readonly Encoding[] = ["br", "gzip"];

/**
 * From header to result. Few distinct headers occur, and parsing one takes longer than the rest of
 * a small answer.
 */
const chosen = new LRUCache<string, Encoding | "identity">({ max: 200 });

/** Longer headers are ignored, because no client needs one. */
const charsMax = 256;

/**
 * The encoding that an `Accept-Encoding` prefers (RFC 9110, 12.5.3): the one with the highest
 * weight, br before gzip where both are equal. Undefined for identity, without a header, and for a
 * header of more than 256 characters.
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding.length > charsMax) return undefined;
  let choice = chosen.get(acceptEncoding);
  if (choice === undefined) {
    choice = choose(acceptEncoding);
    chosen.set(acceptEncoding, choice);
  }
  return choice === "identity" ? undefined : choice;
}

function choose(acceptEncoding: string): Encoding | "identity" {
  const weights = new Map(acceptEncoding.toLowerCase().split(",").map(weightOf));
  const weight = (encoding: Encoding) =>
    weights.get(encoding) ?? (encoding === "gzip" ? weights.get("x-gzip") : undefined) ?? weights.get("*") ?? 0;
  const [best = "gzip"] = offered.toSorted((one, other) => weight(other) - weight(one));
  return weight(best) > 0 && weight(best) >= (weights.get("identity") ?? 0) ? best : "identity";
}

function weightOf(element: string): [coding: string, weight: number] {
  const [coding = "", ...parameters] = element.split(";").map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0;
  return [coding, weight];
}
