/**
 * For `vi.waitFor`, `vi.waitUntil` and `expect.poll`, which by default give up after one second. How
 * long a loaded machine takes is no promise; a test of a promised time measures it.
 */
export const patient = { timeout: 20_000, interval: 20 } as const;
