import { expect } from "vitest";

/** An assertion that is polled for up to 15 seconds. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { timeout: 15_000, interval: 20 });
}
