import pino from "pino";
import { expect, test, vi } from "vitest";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { Stores } from "../store/open-stores.ts";
import { createReactions } from "./endpoint-reactions.ts";

const now = new Date();
const settings = { url: "https://e1.example/", createdAt: now, updatedAt: now, secrets: [Buffer.alloc(32)] as const };
const endpoint: ManagedEndpoint = {
  ...settings,
  endpointId: "e1",
  tenantId: "acme",
  name: "",
  description: "",
  enabled: true,
  events: [],
  headers: {},
  maxInFlight: 32,
  notices: [],
  revision: 1,
};
const disabled: ManagedEndpoint = { ...endpoint, enabled: false, disabled: { reason: "operator", at: now } };

test.each([
  ["succeeds when it was deleted", undefined, undefined, true],
  ["succeeds when it was disabled before", disabled, disabled, true],
  ["succeeds when somebody deletes it at the same time", endpoint, undefined, true],
  ["succeeds when somebody disables it at the same time", endpoint, disabled, true],
  ["fails when somebody changes it otherwise at the same time", endpoint, endpoint, false],
])("disabling an endpoint for its 410s %s", async (_title, found, foundLater, isDisabled) => {
  const find = vi.fn(async () => foundLater).mockResolvedValueOnce(found);
  const endpoints = { find, replace: async () => false } as unknown as Stores["endpoints"];
  const { deliveries, lanes } = {} as Stores;
  const deps = { endpoints, deliveries, lanes, directory: { forget: () => {} }, wake: () => {} };
  const { disableGone } = createReactions({ ...deps, log: pino({ level: "silent" }) }, new AbortController().signal);
  expect(await disableGone({ tenantId: "acme", endpointId: "e1" })).toBe(isDisabled);
});
