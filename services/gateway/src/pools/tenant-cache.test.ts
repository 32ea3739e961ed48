import { describe, expect, it } from "vitest";
import { TenantCache } from "./tenant-cache.ts";

/** A capacity of ten values of 100 bytes. */
function cache() {
  const kept = new TenantCache<string>(1_000);
  const put = (tenantId: string, ...names: string[]) => {
    for (const name of names) kept.set(tenantId, name, `${tenantId} ${name}`, 100);
  };
  const has = (tenantId: string, ...names: string[]) =>
    names.map((name) => kept.get(tenantId, name) === `${tenantId} ${name}`);
  return { kept, put, has };
}

describe("a cache that tenants share", () => {
  it("drops the value that a tenant used longest ago when the tenant has half of the space", () => {
    const { put, has } = cache();
    put("rival", "a");
    put("acme", "a", "b", "c", "d", "e");
    expect(has("acme", "a")).toEqual([true]);
    put("acme", "f");
    expect(has("acme", "a", "b", "c", "d", "e", "f")).toEqual([true, false, true, true, true, true]);
    expect(has("rival", "a")).toEqual([true]);
  });

  it("drops values of the tenant with the most bytes when all space is taken", () => {
    const { put, has } = cache();
    put("small", "a");
    put("large", "a", "b", "c", "d", "e");
    put("middle", "a", "b", "c", "d");
    put("small", "b", "c");
    expect(has("small", "a", "b", "c")).toEqual([true, true, true]);
    expect(has("large", "a", "b", "c", "d", "e")).toEqual([false, false, true, true, true]);
    expect(has("middle", "a", "b", "c", "d")).toEqual([true, true, true, true]);
  });

  it("counts the bytes of a value until it is replaced or deleted", () => {
    const { kept, put, has } = cache();
    for (let turn = 0; turn < 20; turn += 1) put("acme", "a");
    put("acme", "b", "c", "d", "e");
    expect(has("acme", "a", "b", "c", "d", "e")).toEqual([true, true, true, true, true]);
    kept.delete("acme", "b");
    put("acme", "f");
    expect(has("acme", "a", "b", "f")).toEqual([true, false, true]);
  });

  it("keeps neither a value larger than half of the space nor the value that it replaces", () => {
    const { kept, put, has } = cache();
    put("acme", "a");
    kept.set("acme", "a", "acme a", 501);
    expect(has("acme", "a")).toEqual([false]);
  });
});
