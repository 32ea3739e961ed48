import { fastify } from "fastify";
import { expect, test } from "vitest";
import { mountRoutes, requireRouteScopes, type SharedResources } from "./mount-routes.ts";
import type { RequestChecks } from "./request-checks.ts";
import type { Route } from "./route.ts";

const checks: RequestChecks = { checkKey: async () => {}, chargeWrite: async () => {}, checkBody: () => {} };
const unused = () => {
  throw new Error("no request comes in");
};
const resources: SharedResources = {
  turns: { take: unused },
  slots: { take: unused },
  longPolls: { run: unused },
  answers: { reserveStream: unused, prepare: unused, weightOf: unused, send: unused },
  releaseBody: unused,
};

const route: Route<object> = {
  method: "GET",
  url: "/v1/things",
  scope: "publisher:read",
  doc: { operationId: "x", summary: "x", success: { status: 200, description: "x", content: {} } },
  handler: () => async () => ({ status: 200, headers: {}, body: "" }),
};

function boot(add: (app: ReturnType<typeof fastify>) => void) {
  const app = fastify();
  requireRouteScopes(app);
  add(app);
}

test("an open /v1 route stops the boot with an error that names the route", () => {
  expect(() => boot((app) => mountRoutes(app, [{ ...route, scope: "open" }], {}, checks, resources))).toThrow(
    "/v1/things",
  );
});

test("a /v1 route without a scope stops the boot with an error that names the route", () => {
  expect(() => boot((app) => app.get("/v1/bare", () => ""))).toThrow("/v1/bare");
});

const openRoute: Route<object> = { ...route, url: "/api/keys", scope: "open" };

test.each([
  ["a /v1 route with a scope", route],
  ["an open route outside of /v1", openRoute],
])("%s is mounted", (_, mounted) => {
  boot((app) => {
    mountRoutes(app, [mounted], {}, checks, resources);
    expect(app.hasRoute({ method: "GET", url: mounted.url })).toBe(true);
  });
});
