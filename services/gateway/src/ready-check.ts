/** As long as keys seen before go on opening the door while the database is away. */
const graceMs = 60_000;

/**
 * A readiness check that forgives a dependency for as long as the gateway can do without it. Otherwise every gateway
 * would leave its balancer at once, and the grace would be of use to nobody.
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
