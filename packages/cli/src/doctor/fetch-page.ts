import { reasonOf } from "../public-api/public-api.ts";
import type { Answer } from "../public-api/send-with-retries.ts";

export interface Page extends Answer {
  /**
   * When the server answered, estimated as halfway between request and answer; ms since 1970 by the
   * local clock.
   */
  readonly askedAtMs: number;
}

export const answerMsMax = 5_000;

/** @returns the answer, or the reason why there is none */
export async function fetchPage(url: string, init: RequestInit = {}): Promise<Page | string> {
  const startedAtMs = Date.now();
  try {
    // A redirect counts as a failure, because following it would check another page than the one
    // asked for.
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
