import { reasonOf } from "../gateway/public-api.ts";
import type { Answer } from "../gateway/send-patiently.ts";

/** An answer with the moment it was asked for, in ms since 1970 by our clock: halfway between request and answer. */
export interface Page extends Answer {
  readonly askedAtMs: number;
}

/** Longest a check waits for an answer, in ms. */
export const patienceMs = 5_000;

/** Asks once. @returns the answer, or why there is none, in words */
export async function fetchPage(url: string, init: RequestInit = {}): Promise<Page | string> {
  const startedAtMs = Date.now();
  try {
    // A redirect would carry a key to whoever is named there.
    const response = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(patienceMs) });
    const { status, headers } = response;
    return { status, headers, askedAtMs: (startedAtMs + Date.now()) / 2, body: await response.text() };
  } catch (error) {
    return reasonOf(error);
  }
}

/** The JSON of an answer; undefined when it is none. */
export function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
