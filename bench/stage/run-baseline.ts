import type { LoadResult } from "../load/load-result.ts";

/** Makes a baseline run its own load, and returns the result. Fails after 290 s. */
export async function runBaseline(url: string, query: Record<string, string | number>): Promise<LoadResult> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const signal = AbortSignal.timeout(290_000);
  const answer = await fetch(`${url}/run?${search}`, { method: "POST", signal });
  if (!answer.ok) throw new Error(`the baseline answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as LoadResult;
}
