import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { reportClock } from "./report-clock.ts";
import { reportDelegation } from "./report-delegation.ts";
import { reportKeyAge } from "./report-key-age.ts";

const keyId = `ed25519-${"A".repeat(16)}`;
const delegation = ["vidimus-trust-root-v1", keyId, "AAAA", "2027-11-26T00:00:00.000Z", `${"A".repeat(86)}==`].join(
  "\n",
);

const gauges: [string, (registry: Registry, isKnown: () => boolean) => void][] = [
  [
    "vidimus_signing_key_age_seconds",
    (registry, isKnown) => reportKeyAge({ registry }, () => (isKnown() ? new Date() : undefined)),
  ],
  [
    "vidimus_signing_clock_offset_seconds",
    (registry, isKnown) => reportClock({ registry }, { offsetMs: () => (isKnown() ? 2_000 : undefined) }),
  ],
  [
    "vidimus_trust_delegation_expiry_seconds",
    (registry, isKnown) => reportDelegation({ registry }, () => (isKnown() ? delegation : undefined)),
  ],
];

test.each(gauges)("%s has no value while there is nothing to report", async (name, report) => {
  const registry = new Registry();
  let isKnown = false;
  report(registry, () => isKnown);
  const count = async () => (await registry.getSingleMetric(name)?.get())?.values.length;
  const before = await count();
  isKnown = true;
  const known = await count();
  isKnown = false;
  expect([before, known, await count()]).toEqual([0, 1, 0]);
});
