import { expect, vi } from "vitest";

const patience = { timeout: 15_000, interval: 20 } as const;

/** An assertion that is polled for up to 15 seconds. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, patience);
}

/** For hooks and concurrent tests, in which the `expect.poll` of `eventually` finds no test. */
export async function untilEqual(
  read: () => unknown,
  expected: unknown,
  timeout: number = patience.timeout,
): Promise<void> {
  await vi.waitFor(async () => expect(await read()).toEqual(expected), { ...patience, timeout });
}
