import { DomainError } from "@vidimus/kit/errors";
import { expect, it } from "vitest";
import type { TenantCall } from "../../http/route.ts";
import { takeForm } from "./take-form.ts";

it("a form that was taken over 20 s ago and never ended counts as sent before, without a wait", async () => {
  const forms = {
    take: async () => false,
    find: async () => ({ isEnded: false, takenAt: new Date(Date.now() - 21_000) }),
    end: async () => undefined,
    release: async () => undefined,
  };
  const form = new URLSearchParams({ once: "a".repeat(22) });
  const call = { form, person: { memberId: "person:1" }, now: new Date(), rpc: {} } as TenantCall;
  const started = performance.now();
  expect(await takeForm(forms, call)).toEqual({ before: undefined });
  expect(performance.now() - started).toBeLessThan(1_000);
});

it("a form fails with the error of the service, also when the form's own row cannot be written", async () => {
  const lost = async () => Promise.reject(new DomainError("unavailable", "the database cannot be reached"));
  const forms = { take: async () => true, find: async () => undefined, end: lost, release: lost };
  const form = new URLSearchParams({ once: "a".repeat(22) });
  const call = { form, person: { memberId: "person:1" }, now: new Date(), rpc: {} } as TenantCall;
  for (const kind of ["conflict", "deadline_exceeded"] as const) {
    const taken = await takeForm(forms, call);
    if ("before" in taken) throw new Error("the form was not taken");
    const refusal = new DomainError(kind, "refused");
    await expect(taken.settle(Promise.reject(refusal), () => ({ path: "/" }))).rejects.toBe(refusal);
  }
});
