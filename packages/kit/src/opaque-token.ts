type TokenValue = string | number;

/** Version of the encoding, the first value in every token. */
const version = 1;

/**
 * Tokens of ids, times and numbers have at most 180 characters. Those with names, phrases or paths
 * may have more; their readers pass a greater maximum.
 */
const charactersMaxDefault = 256;

/**
 * Encodes a token that callers return without reading it: unsigned base64url of the JSON array `[1,
 * ...values]`. Callers can decode a token, so it must hold only what they may know. They can also
 * forge one, so a service checks the decoded values.
 */
export function encodeOpaqueToken(values: readonly TokenValue[]): string {
  return Buffer.from(JSON.stringify([version, ...values])).toString("base64url");
}

/**
 * The values of a token; undefined for a token longer than `charactersMax` and for anything that
 * `encodeOpaqueToken` does not produce.
 */
export function decodeOpaqueToken(token: string, charactersMax = charactersMaxDefault): TokenValue[] | undefined {
  if (token.length > charactersMax) return undefined;
  const decoded = parse(Buffer.from(token, "base64url").toString());
  if (!Array.isArray(decoded) || decoded[0] !== version) return undefined;
  const values: unknown[] = decoded.slice(1);
  if (!values.every(isTokenValue)) return undefined;
  return encodeOpaqueToken(values) === token ? values : undefined;
}

function isTokenValue(value: unknown): value is TokenValue {
  return typeof value === "string" || typeof value === "number";
}

/** Whether a decoded value is milliseconds since the epoch that a `Date` can hold. */
export function isEpochMs(value: TokenValue | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= 8.64e15;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
