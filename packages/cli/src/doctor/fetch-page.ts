import { reasonOf } from "../public-api/public-api.ts";
import type { Answer } from "../public-api/send-with-retries.ts";

/**
 * An answer. `askedAtMs` is when the server gave it, in ms since 1970 by the local clock: halfway
 * between request and answer.
 */
export interface Page extends Answer {
  readonly askedAtMs: number;
}

/** Longest time that a check waits for an answer. */
export const answerMsMax = 5_000;

/** Sends one request. @returns the answer, or the reason why there is none */
export async function fetchPage(url: string, init: RequestInit = {}): Promise<Page | string> {
  const startedAtMs = Date.now();
  try {
    // Redirects fail, because following one would send the key to another server.
    const response = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(answerMsMax) });
    const { status, headers } = response;
    return { status, headers, askedAtMs: (startedAtMs + Date.now()) / 2, body: await response.text() };
  } catch (error) {
    return reasonOf(error);
  }
}

/** The parsed body of an answer; undefined when it is not JSON. */
export function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
