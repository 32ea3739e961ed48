import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { statusOf } from "../src/http/errors/http-error.ts";
import { routes } from "../src/endpoints/routes.ts";
import { openGateway } from "./support/start-gateway.ts";

interface Operation {
  operationId: string;
  security: { apiKey?: string[] }[];
  parameters?: { name: string; schema: Record<string, unknown> }[];
  responses: Record<
    string,
    { headers: object; content?: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }> }
  >;
}

interface OpenApi {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
}

let closed: Awaited<ReturnType<typeof openGateway>>;
let open: Awaited<ReturnType<typeof openGateway>>;
let api: OpenApi;

beforeAll(async () => {
  closed = await openGateway();
  open = await openGateway({ publicDocs: true });
  api = (await (await fetch(`${closed.ops}/openapi.json`)).json()) as OpenApi;
});

afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
});

const operations = () =>
  Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

describe("where", () => {
  test("both pages are on the ops port always, and on the public one only where that was asked for", async () => {
    const status = async (url: string) => (await fetch(url)).status;
    for (const page of ["/openapi.json", "/docs"]) {
      expect(await status(closed.ops + page)).toBe(200);
      expect(await status(closed.url + page)).toBe(404);
      expect(await status(open.url + page)).toBe(200);
    }
  });

  test("the page fetches nothing from anywhere", async () => {
    const response = await fetch(`${open.url}/docs`);
    const html = await response.text();
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|<link|<img|\bsrc=|@import|url\(/i);
    for (const { operation } of operations()) expect(html).toContain(`id="${operation.operationId}"`);
  });

  test("a revisit that is answered 304 has the headers of the first visit, so that the page keeps its styles", async () => {
    const first = await fetch(`${open.url}/docs`);
    const again = await fetch(`${open.url}/docs`, { headers: { "if-none-match": first.headers.get("etag")! } });
    expect(again.status).toBe(304);
    for (const name of ["content-security-policy", "cache-control", "etag", "vary"]) {
      expect(again.headers.get(name), name).toBe(first.headers.get(name));
    }
    expect(again.headers.get("content-security-policy")).toContain("style-src 'unsafe-inline'");
  });

  test("what is committed in docs/openapi.json is what is served", async () => {
    const file = join(import.meta.dirname, "../../../docs/openapi.json");
    expect(await (await fetch(`${open.url}/openapi.json`)).text()).toBe(await readFile(file, "utf8"));
  });
});

describe("what", () => {
  test("it is OpenAPI 3.1 of every route, with its scope, and its revision stands in the changelog", async () => {
    expect(api.openapi).toBe("3.1.0");
    const described = operations().map(
      ({ path, method, operation }) => `${method} ${path} ${operation.security[0]?.apiKey?.[0] ?? "open"}`,
    );
    const real = routes.map(
      ({ method, url, scope }) => `${method.toLowerCase()} ${url.replace(/:(\w+)/g, "{$1}")} ${scope}`,
    );
    expect(described.toSorted()).toEqual(real.toSorted());
    const changelog = await readFile(join(import.meta.dirname, "../../../CHANGELOG.md"), "utf8");
    expect(changelog).toContain(`## ${api.info.version}`);
  });

  test("every answer has an example, and every error its code and status", () => {
    for (const { path, method, operation } of operations()) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (status === "304") continue;
        for (const { example, examples } of Object.values(content ?? {})) {
          const shown = example === undefined ? Object.entries(examples ?? {}) : [["", { value: example }] as const];
          expect(shown.length, `${method} ${path} ${status}`).toBeGreaterThan(0);
          if (Number(status) < 400) continue;
          for (const [name, { value }] of shown) {
            // `RATE_LIMITED (share)` is another example of RATE_LIMITED.
            const [code = ""] = name.split(" ");
            expect(value).toMatchObject({ ok: false, error: { code } });
            expect(statusOf[code as keyof typeof statusOf]).toBe(Number(status));
          }
        }
      }
    }
  });

  test("every 429 and 503 shows what a request meets whose tenant has its share, or that finds a pool exhausted", () => {
    for (const { operation } of operations()) {
      const examplesOf = (status: string) => operation.responses[status]?.content?.["application/json"]?.examples;
      expect(examplesOf("429")).toHaveProperty(["RATE_LIMITED (share)"]);
      expect(examplesOf("503")).toHaveProperty(["UNAVAILABLE (pool)"]);
    }
  });

  test("numbers have their bounds, and none of our own keywords gets out", () => {
    const list = api.paths["/v1/documents"]!.get!;
    expect(list.parameters!.find(({ name }) => name === "limit")!.schema).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 200,
      default: 50,
    });
    expect(list.parameters!.find(({ name }) => name === "cursor")!.schema).toEqual({ type: "string" });
    expect(JSON.stringify(api)).not.toMatch(/x-must|x-described-as/);
  });
});
