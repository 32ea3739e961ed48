import { fastify } from "fastify";
import { expect, test } from "vitest";
import { type Gates, mountRoutes, requireScopes } from "./mount-routes.ts";
import type { Route } from "./route.ts";
import { WaitingRoom } from "./waiting-room.ts";

const gates: Gates = { admit: async () => {}, charge: async () => {}, accept: () => {}, room: new WaitingRoom() };

const route: Route<object> = {
  method: "GET",
  url: "/v1/things",
  scope: "publisher:read",
  doc: { operationId: "x", summary: "x", success: { status: 200, description: "x", content: {} } },
  handler: () => async () => ({ status: 200, headers: {}, body: "" }),
};

function boot(add: (app: ReturnType<typeof fastify>) => void) {
  const app = fastify();
  requireScopes(app);
  add(app);
}

test("a /v1 route without a scope stops the boot, and is named", () => {
  expect(() => boot((app) => mountRoutes(app, [{ ...route, scope: "open" }], {}, gates))).toThrow("/v1/things");
  expect(() => boot((app) => app.get("/v1/bare", () => ""))).toThrow("/v1/bare");
});

test("with a scope it boots, and outside /v1 a route may be open", () => {
  boot((app) => mountRoutes(app, [route, { ...route, url: "/api/keys", scope: "open" }], {}, gates));
});
