import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { statusOf } from "../src/errors/http-error.ts";
import { routes } from "../src/endpoints/routes.ts";
import { rawText } from "./support/raw-request.ts";
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
  webhooks: Record<string, { post: { requestBody: { content: Record<string, { schema: PayloadSchema }> } } }>;
}

interface PayloadSchema {
  properties: { type: { const: string }; data: { properties: Record<string, object> } };
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

describe("the pages of the API description", () => {
  test("are always on the ops port, and on the public port only when it is configured so", async () => {
    const status = async (url: string) => (await fetch(url)).status;
    for (const page of ["/openapi.json", "/docs", "/docs/errors", "/docs/build-a-site"]) {
      expect(await status(closed.ops + page)).toBe(200);
      expect(await status(closed.url + page)).toBe(404);
      expect(await status(open.url + page)).toBe(200);
    }
  });

  test("load no other file: their one script is inline, and only on the public port", async () => {
    for (const [url, scripts] of [
      [closed.ops, 0],
      [open.url, 1],
    ] as const) {
      const html = await (await fetch(`${url}/docs`)).text();
      expect(html).not.toMatch(/<link|<img|\bsrc=|@import|url\(|\son\w+=/i);
      expect(html.match(/<script>/g)?.length ?? 0).toBe(scripts);
    }
  });

  test("have a section for every operation, on the ops port and on the public port", async () => {
    for (const url of [closed.ops, open.url]) {
      const html = await (await fetch(`${url}/docs`)).text();
      for (const { operation } of operations()) expect(html).toContain(`id="${operation.operationId}"`);
    }
  });

  test("have a policy that allows only their own style and script, by hash, and calls to this server", async () => {
    const response = await fetch(`${open.url}/docs`);
    const html = await response.text();
    const hashed = (tag: string) => {
      const [, content = ""] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html) ?? [];
      return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
    };
    const policy = (response.headers.get("content-security-policy") ?? "").split("; ");
    expect(policy.toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      `script-src ${hashed("script")}`,
      `style-src ${hashed("style")}`,
    ]);
  });

  /** The section of the operation that creates a document. */
  async function sectionOfCreate(): Promise<string> {
    const html = await (await fetch(`${open.url}/docs`)).text();
    const from = html.indexOf('id="createDocument"');
    return html.slice(from, html.indexOf('<details class="op"', from));
  }

  test("describe a call: the members of its body with their kinds, and its errors, folded", async () => {
    const section = await sectionOfCreate();
    const body = section.slice(0, section.indexOf("<h5>Answers"));
    expect(body).toMatch(/<code>id<\/code> <span class="kind">string, matches [^<]*, required<\/span> UUID/);
    expect(body).toMatch(/<code>links<\/code> <span class="kind">array of objects<\/span>/);
    expect(section).toMatch(
      /<details><summary>Errors: 400, 401, 403, 405, 408, 409, 413, 415, 429, 500, 503, 504<\/summary>/,
    );
    expect(section).not.toContain("<details open");
  });

  test("have a form that sends a call, which is hidden as long as their script does not run", async () => {
    const section = await sectionOfCreate();
    expect(section).toMatch(/<form class="try" data-method="POST" data-path="\/v1\/documents" hidden>/);
  });

  test("are linked from every error, at the section of its code, where they are public or have a URL", async () => {
    await using elsewhere = await openGateway({ docsUrl: "https://docs.example.org/vidimus" });
    const linkOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).headers.get("link");
    expect(await linkOf(`${open.url}/nowhere`)).toBe('</docs/errors#NOT_FOUND>; rel="help"');
    expect(await linkOf(`${open.url}/v1/documents`)).toBe('</docs/errors#UNAUTHORIZED>; rel="help"');
    expect(await linkOf(`${open.url}/v1/documents`, { method: "PATCH" })).toContain("#METHOD_NOT_ALLOWED>");
    const unread = await rawText(open.httpPort, "NONSENSE\r\n\r\n");
    expect(unread).toMatch(/^link: <\/docs\/errors#INVALID_PAYLOAD>; rel="help"\r$/m);
    const there = '<https://docs.example.org/vidimus/errors#NOT_FOUND>; rel="help"';
    expect(await linkOf(`${elsewhere.url}/nowhere`)).toBe(there);
    expect(await linkOf(`${closed.url}/nowhere`)).toBeNull();
    const page = await (await fetch(`${open.url}/docs/errors`)).text();
    for (const code of Object.keys(statusOf)) expect(page).toContain(` id="${code}"`);
  });

  test("are linked from GET / where they are public", async () => {
    const start = await fetch(`${open.url}/`);
    expect([start.status, start.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await start.text()).toContain('<a href="/docs">');
  });

  test("are not served for a malformed path, which is INVALID_QUERY in the envelope", async () => {
    const malformed = await fetch(`${open.url}/%E0%A4%A`);
    expect([malformed.status, await malformed.json()]).toEqual([
      400,
      { ok: false, error: { code: "INVALID_QUERY", message: expect.any(String) } },
    ]);
  });

  test("have the headers of the first visit in a 304, too, so that a page keeps its styles", async () => {
    const first = await fetch(`${open.url}/docs`);
    const again = await fetch(`${open.url}/docs`, { headers: { "if-none-match": first.headers.get("etag")! } });
    expect(again.status).toBe(304);
    for (const name of ["content-security-policy", "cache-control", "etag", "vary"]) {
      expect(again.headers.get(name), name).toBe(first.headers.get(name));
    }
    expect(again.headers.get("content-security-policy")).toContain("style-src 'sha256-");
  });

  test("include /openapi.json as it is committed in docs/openapi.json", async () => {
    const file = join(import.meta.dirname, "../../../docs/openapi.json");
    expect(await (await fetch(`${open.url}/openapi.json`)).text()).toBe(await readFile(file, "utf8"));
  });
});

describe("the OpenAPI document", () => {
  test("describes every route with its scope in OpenAPI 3.1", async () => {
    expect(api.openapi).toBe("3.1.0");
    const described = operations().map(
      ({ path, method, operation }) => `${method} ${path} ${operation.security[0]?.apiKey?.[0] ?? "open"}`,
    );
    const real = routes.map(
      ({ method, url, scope }) => `${method.toLowerCase()} ${url.replace(/:(\w+)/g, "{$1}")} ${scope}`,
    );
    expect(described.toSorted()).toEqual(real.toSorted());
  });

  test("has a version that the changelog names", async () => {
    const changelog = await readFile(join(import.meta.dirname, "../../../CHANGELOG.md"), "utf8");
    expect(changelog).toContain(`## ${api.info.version}`);
  });

  test("has an example of every answer, and of every error with its code and status", () => {
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

  test("shows for every 429 and 503 the refusals of a tenant's share and of an exhausted pool", () => {
    for (const { operation } of operations()) {
      const examplesOf = (status: string) => operation.responses[status]?.content?.["application/json"]?.examples;
      expect(examplesOf("429")).toHaveProperty(["RATE_LIMITED (share)"]);
      expect(examplesOf("503")).toHaveProperty(["UNAVAILABLE (pool)"]);
    }
  });

  test("shows in the 408 of an import that its body has 60 s, and in the others 10 s", () => {
    const having = (seconds: string) =>
      operations().flatMap(({ operation: { operationId, responses } }) =>
        JSON.stringify(responses["408"] ?? {}).includes(`within ${seconds}`) ? [operationId] : [],
      );
    expect(having("60 s")).toEqual(["importPhrases"]);
    expect(having("10 s")).toContain("createDocument");
  });

  test("has a 405 with Allow for every operation", () => {
    for (const { path, method, operation } of operations()) {
      expect(operation.responses["405"]?.headers, `${method} ${path}`).toHaveProperty("Allow");
    }
  });

  test("shows a choice of constants as one enum, in parameters, bodies and answers", () => {
    const text = JSON.stringify(api);
    expect(text).toContain('"enum":["core/article","core/image","core/audio","core/tag","core/publisher-site"]');
    expect(text).not.toMatch(/"anyOf":\[(?:\{"type":"string","const":"[^"]*"\},?)+\]/);
  });

  test("describes what is posted to endpoints, with a schema for each event that one can ask for", () => {
    const asked = JSON.stringify(api.paths["/v1/webhooks/endpoints"]!.post).match(/(?:snapshot|endpoint)\.[a-z]+/g);
    expect(Object.keys(api.webhooks).toSorted()).toEqual([...new Set([...asked!, "endpoint.ping"])].toSorted());
    for (const [event, { post }] of Object.entries(api.webhooks)) {
      const { schema } = post.requestBody.content["application/json"]!;
      expect(schema.properties.type.const).toBe(event);
      expect(schema.properties.data.properties).toHaveProperty("tenantId");
    }
  });

  test("describes parameters by their bounds instead of by the gateway's own keywords", () => {
    const list = api.paths["/v1/documents"]!.get!;
    expect(list.parameters!.find(({ name }) => name === "limit")!.schema).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 200,
      default: 50,
    });
    expect(list.parameters!.find(({ name }) => name === "cursor")!.schema).toEqual({ type: "string" });
    expect(JSON.stringify(api)).not.toMatch(/x-must|x-names|x-described-as/);
  });
});
