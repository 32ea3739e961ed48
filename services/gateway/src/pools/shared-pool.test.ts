import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { openPools } from "./pools.ts";
import { takeAll } from "./shared-pool.ts";

const mib = 1024 * 1024;

test("a tenant has at most half of a pool, even while it is alone", () => {
  const { bodies } = openPools(new Registry(), { bodyBytes: 8 * mib });
  bodies.take("acme", 3 * mib);
  expect(() => bodies.take("acme", 2 * mib)).toThrow(
    expect.objectContaining({
      code: "RATE_LIMITED",
      message: "The tenant's share of the memory for request bodies, 4 MiB, is in use; retry in 1 s",
    }),
  );
});

test("a tenant may take again what it released", () => {
  const { bodies } = openPools(new Registry(), { bodyBytes: 8 * mib });
  bodies.take("acme", 3 * mib);
  bodies.give("acme", 2 * mib);
  bodies.take("acme", 3 * mib);
  expect(() => bodies.take("acme", 1)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
});

test("refusals are counted apart: those of an exhausted pool, and those of a tenant's share", async () => {
  const registry = new Registry();
  const { bodies } = openPools(registry, { bodyBytes: 8 * mib });
  bodies.take("acme", 4 * mib);
  bodies.take("rival", 4 * mib);
  expect(() => bodies.take("third", 1)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  expect(() => bodies.take("acme", 1)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  const metrics = await registry.metrics();
  expect(metrics).toContain('vidimus_shares_refused_total{pool="body_memory",outcome="pool"} 1');
  expect(metrics).toContain('vidimus_shares_refused_total{pool="body_memory",outcome="share"} 1');
});

test("what a tenant releases of an exhausted pool can be taken by another", () => {
  const { bodies } = openPools(new Registry(), { bodyBytes: 8 * mib });
  bodies.take("acme", 4 * mib);
  bodies.take("rival", 4 * mib);
  bodies.give("rival", 1);
  bodies.take("third", 1);
  expect(() => bodies.take("third", 1)).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
});

test("parts of several pools are taken together or not at all", () => {
  const { answers, streams } = openPools(new Registry(), { answerBytes: 8 * mib, streams: 2 });
  const give = takeAll("acme", [streams, 1], [answers, 3 * mib]);
  give();
  expect(() => takeAll("acme", [streams, 1], [answers, 5 * mib])).toThrow("memory for unread answers");
  takeAll("acme", [streams, 2], [answers, 4 * mib]);
});
