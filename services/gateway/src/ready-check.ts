/** The same as the time for which cached keys stay valid while the database does not answer. */
const graceMs = 60_000;

/**
 * A readiness check that fails only when the dependency has not answered for longer than the
 * gateway can work without it. If it failed at once, all gateways would leave their balancer
 * together, and cached keys would be useless.
 */
export function withGrace(ping: () => Promise<void>, now: () => number = () => performance.now()): () => Promise<void> {
  let answeredAt = now();
  return async () => {
    try {
      await ping();
      answeredAt = now();
    } catch (error) {
      if (now() - answeredAt > graceMs) throw error;
    }
  };
}
