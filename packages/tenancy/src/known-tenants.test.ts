import pino from "pino";
import { expect, it, vi } from "vitest";
import { patient } from "@vidimus/kit/testing/patient";
import { type KnownTenant, KnownTenants } from "./known-tenants.ts";

const log = pino({ level: "silent" });
const away = () => Promise.reject(new Error("away"));

/** A list that a test changes, and how often it was pulled. */
function source(tenants: KnownTenant[]) {
  const pull = vi.fn(() => Promise.resolve(tenants));
  return { pull, tenants };
}
const tenant = (tenantId: string, disabled = false): KnownTenant => ({ tenantId, disabled });
const kindOf = (call: Promise<void>) =>
  call.then(
    () => "ok",
    (error: { kind: string }) => error.kind,
  );

it("a disabled tenant may be read but not written", async () => {
  using known = new KnownTenants({ ...source([tenant("demo"), tenant("old", true)]), log });
  expect(await kindOf(known.require("demo", "write"))).toBe("ok");
  expect(await kindOf(known.require("old", "read"))).toBe("ok");
  expect(await kindOf(known.require("old", "write"))).toBe("failed_precondition");
});

it("a tenant that is not listed is refused", async () => {
  using known = new KnownTenants({ ...source([tenant("demo")]), log });
  await expect(known.require("dmeo", "read")).rejects.toThrow('there is no tenant "dmeo"');
  expect(await kindOf(known.require("dmeo", "write"))).toBe("not_found");
});

it("`require` resolves for a malformed tenant id, though the list cannot be pulled", async () => {
  using known = new KnownTenants({ pull: away, log });
  expect(await kindOf(known.require("Not a tenant", "write"))).toBe("ok");
});

it("calls that name a new tenant at the same time share one pull, long before the regular one", async () => {
  const { pull, tenants } = source([tenant("demo")]);
  using known = new KnownTenants({ pull, log, everyMs: 3_600_000 });
  await known.require("demo", "read");
  tenants.push(tenant("fresh"));
  const before = pull.mock.calls.length;
  await Promise.all(Array.from({ length: 20 }, () => known.require("fresh", "write")));
  expect(pull.mock.calls.length).toBe(before + 1);
  await known.require("demo", "read");
  expect(pull.mock.calls.length).toBe(before + 1);
});

it("a regular pull finds that a known tenant was disabled", async () => {
  const tenants = [tenant("demo")];
  using known = new KnownTenants({ pull: () => Promise.resolve([...tenants]), log, everyMs: 20 });
  await known.require("demo", "write");
  tenants[0] = tenant("demo", true);
  await vi.waitFor(
    async () => expect(await kindOf(known.require("demo", "write"))).toBe("failed_precondition"),
    patient,
  );
});

it("while the list cannot be pulled, a listed tenant stays known and an unlisted one is `unavailable`", async () => {
  let isAway = false;
  const pull = () => (isAway ? away() : Promise.resolve([tenant("demo")]));
  using known = new KnownTenants({ pull, log, everyMs: 20, pullMs: 250 });
  await known.require("demo", "write");
  isAway = true;
  expect(await kindOf(known.require("fresh", "read"))).toBe("unavailable");
  expect(await kindOf(known.require("demo", "write"))).toBe("ok");
  await known.check();
});

it("the first pull is repeated until it succeeds, without a request that names a tenant", async () => {
  let isAway = true;
  const signals = new Set<AbortSignal>();
  const pull = (signal: AbortSignal) => (signals.add(signal), isAway ? away() : Promise.resolve([tenant("demo")]));
  using known = new KnownTenants({ pull, log, everyMs: 3_600_000, pullMs: 250 });
  // A second signal is there only after the first pull was given up.
  await vi.waitUntil(() => signals.size > 1, patient);
  isAway = false;
  await vi.waitFor(() => known.check(), patient);
});

it("until the list was pulled once, a tenant is `unavailable` and `check` rejects", async () => {
  let isAway = true;
  const pull = () => (isAway ? away() : Promise.resolve([tenant("demo")]));
  using known = new KnownTenants({ pull, log, pullMs: 250 });
  await expect(known.check()).rejects.toThrow("was not read yet");
  expect(await kindOf(known.require("demo", "read"))).toBe("unavailable");
  isAway = false;
  expect(await kindOf(known.require("demo", "read"))).toBe("ok");
  await known.check();
});
