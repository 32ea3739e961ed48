/**
 * For `vi.waitFor`, `vi.waitUntil` and `expect.poll`, which by default give up after one second. A
 * test waits this long because a loaded machine is slow; a test that promises a time measures the
 * time itself.
 */
export const patient = { timeout: 20_000, interval: 20 } as const;
