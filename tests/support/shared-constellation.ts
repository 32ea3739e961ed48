import { type Constellation, openConstellation } from "@vidimus/devstack/testing/constellation";
import { inject } from "vitest";

/** A constellation that several files use. It stays open until their worker ends. */
export type SharedConstellation = Omit<Constellation, keyof AsyncDisposable>;

/** What differs from the usual constellation, which has no limits. */
interface Settings {
  readonly env?: Readonly<Record<string, string>>;
  /** With certificates at every door; by default when VIDIMUS_TEST_MTLS is `on`. */
  readonly mtls?: boolean;
}

const withoutLimits = { IP_RATE_LIMIT: "off", WRITE_BUDGET: "off", AUTH_FAILURE_RATE_LIMIT: "off" };

/** Files of a project that follow each other in a worker share this module. */
const opened = new Map<string, Promise<Constellation>>();

/**
 * The worker's constellation of these settings; the first file that asks for it starts it. A file
 * makes tenants of its own, and changes nothing that belongs to no tenant, such as signing keys.
 */
export function sharedConstellation({ env, mtls }: Settings = {}): Promise<SharedConstellation> {
  const settings = { env: { ...withoutLimits, ...env }, mtls: mtls ?? process.env["VIDIMUS_TEST_MTLS"] === "on" };
  const key = JSON.stringify(settings);
  const constellation = opened.get(key) ?? openConstellation({ mongoUrl: inject("mongoUrl"), ...settings });
  // Vitest ends a worker by SIGTERM, after which no exit hook would stop the brokers.
  if (opened.size === 0) process.once("SIGTERM", () => process.exit(143));
  opened.set(key, constellation);
  return constellation;
}
