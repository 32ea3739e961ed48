import { expect } from "vitest";

/** An assertion about something that comes true by and by. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { timeout: 15_000, interval: 20 });
}
