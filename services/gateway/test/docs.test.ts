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
  requestBody?: object;
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
  const pages = ["/openapi.json", "/docs", "/docs/errors", "/docs/build-a-site"];
  const statusAt = async (url: string) => (await fetch(url)).status;

  test("are on the ops port, public or not", async () => {
    for (const page of pages) {
      for (const { ops } of [closed, open]) expect(await statusAt(ops + page)).toBe(200);
    }
  });

  test("are on the public port only with publicDocs", async () => {
    for (const page of pages) {
      expect(await statusAt(closed.url + page)).toBe(404);
      expect(await statusAt(open.url + page)).toBe(200);
    }
  });

  test("load no other file", async () => {
    for (const url of [closed.ops, open.url].flatMap((port) => pages.slice(1).map((page) => port + page))) {
      const html = await (await fetch(url)).text();
      expect(html, url).not.toMatch(/<link|<img|\bsrc=|@import|url\(|\son\w+=/i);
    }
  });

  test("have in the reference one script on the public port, and none on the ops port", async () => {
    for (const [url, scripts] of [
      [closed.ops, 0],
      [open.url, 1],
    ] as const) {
      const html = await (await fetch(`${url}/docs`)).text();
      expect(html.match(/<script>/g)?.length ?? 0).toBe(scripts);
    }
  });

  test("have in the reference a section for every operation, on the ops port and on the public port", async () => {
    for (const url of [closed.ops, open.url]) {
      const html = await (await fetch(`${url}/docs`)).text();
      for (const { operation } of operations()) expect(html).toContain(`id="${operation.operationId}"`);
    }
  });

  test("have for the reference a policy that allows only its own style and script, and calls to its server", async () => {
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

  test("describe `id` and `links` in the body of createDocument with their kinds", async () => {
    const section = await sectionOfCreate();
    const body = section.slice(0, section.indexOf("<h5>Answers"));
    expect(body).toMatch(/<code>id<\/code> <span class="kind">string, matches [^<]*, required<\/span> UUID/);
    expect(body).toMatch(/<code>links<\/code> <span class="kind">array of objects<\/span>/);
  });

  test("list the errors of a call, folded", async () => {
    const section = await sectionOfCreate();
    expect(section).toMatch(
      /<details><summary>Errors: 400, 401, 403, 405, 408, 409, 413, 415, 429, 500, 503, 504<\/summary>/,
    );
    expect(section).not.toContain("<details open");
  });

  test("have a form for a call, hidden without the script of the page", async () => {
    const section = await sectionOfCreate();
    expect(section).toMatch(/<form class="try" data-method="POST" data-path="\/v1\/documents" hidden>/);
  });

  const linkOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).headers.get("link");

  test("are linked from an error, at the section of its code, only where the pages are public", async () => {
    expect(await linkOf(`${open.url}/nowhere`)).toBe('</docs/errors#NOT_FOUND>; rel="help"');
    expect(await linkOf(`${open.url}/v1/documents`)).toBe('</docs/errors#UNAUTHORIZED>; rel="help"');
    expect(await linkOf(`${open.url}/v1/documents`, { method: "PATCH" })).toContain("#METHOD_NOT_ALLOWED>");
    const unread = await rawText(open.httpPort, "NONSENSE\r\n\r\n");
    expect(unread).toMatch(/^link: <\/docs\/errors#INVALID_PAYLOAD>; rel="help"\r$/m);
    expect(await linkOf(`${closed.url}/nowhere`)).toBeNull();
  });

  test("are linked from errors at the configured docsUrl", async () => {
    await using elsewhere = await openGateway({ docsUrl: "https://docs.example.org/vidimus" });
    const there = '<https://docs.example.org/vidimus/errors#NOT_FOUND>; rel="help"';
    expect(await linkOf(`${elsewhere.url}/nowhere`)).toBe(there);
  });

  test("have a section for every error code", async () => {
    const page = await (await fetch(`${open.url}/docs/errors`)).text();
    for (const code of Object.keys(statusOf)) expect(page).toContain(` id="${code}"`);
  });

  test("include a start page at / of the public port, which links to the reference", async () => {
    const start = await fetch(`${open.url}/`);
    expect([start.status, start.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await start.text()).toContain('<a href="/docs">');
  });

  test("are not served for a malformed path, which is answered 400 INVALID_QUERY", async () => {
    const malformed = await fetch(`${open.url}/%E0%A4%A`);
    expect([malformed.status, await malformed.json()]).toEqual([
      400,
      { ok: false, error: { code: "INVALID_QUERY", message: expect.any(String) } },
    ]);
  });

  test("have in a 304 of the reference the policy, Cache-Control, ETag and Vary of its 200", async () => {
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
  test("is in OpenAPI 3.1", () => {
    expect(api.openapi).toBe("3.1.0");
  });

  test("describes every route with its scope", () => {
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

  /** The examples of every answer with content but a 304, by name; a single one has no name. */
  const answerExamples = () =>
    operations().flatMap(({ path, method, operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => status !== "304")
        .flatMap(([status, { content }]) =>
          Object.values(content ?? {}).map(({ example, examples = {} }) => {
            const shown = example === undefined ? Object.entries(examples) : [["", { value: example }] as const];
            return { answer: `${method} ${path} ${status}`, status: Number(status), shown };
          }),
        ),
    );

  test("has an example of every answer with content", () => {
    for (const { answer, shown } of answerExamples()) expect(shown.length, answer).toBeGreaterThan(0);
  });

  test("shows each example of an error under the name and the status of the error's code", () => {
    for (const { status, shown } of answerExamples().filter((each) => each.status >= 400)) {
      for (const [name, { value }] of shown) {
        // `RATE_LIMITED (share)` is another example of RATE_LIMITED.
        const [code = ""] = name.split(" ");
        expect(value).toMatchObject({ ok: false, error: { code } });
        expect(statusOf[code as keyof typeof statusOf]).toBe(status);
      }
    }
  });

  test.each([
    ["429", "a tenant whose share is in use", "RATE_LIMITED (share)"],
    ["503", "an exhausted pool", "UNAVAILABLE (pool)"],
  ])("shows in every %s an example for %s", (status, _, name) => {
    for (const { operation } of operations()) {
      expect(operation.responses[status]?.content?.["application/json"]?.examples).toHaveProperty([name]);
    }
  });

  test("shows in its 408s that the body of an import has 60 s to arrive, and every other body 10 s", () => {
    const withBody = operations().filter(({ operation }) => operation.requestBody);
    const having = (seconds: string) =>
      withBody.flatMap(({ operation: { operationId, responses } }) =>
        JSON.stringify(responses["408"]).includes(`within ${seconds}`) ? [operationId] : [],
      );
    expect(having("60 s")).toEqual(["importPhrases"]);
    expect(having("10 s")).toHaveLength(withBody.length - 1);
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

  test("describes with a schema each event that an endpoint can choose, and the ping", () => {
    const asked = JSON.stringify(api.paths["/v1/webhooks/endpoints"]!.post).match(/(?:snapshot|endpoint)\.[a-z]+/g);
    expect(Object.keys(api.webhooks).toSorted()).toEqual([...new Set([...asked!, "endpoint.ping"])].toSorted());
    for (const [event, { post }] of Object.entries(api.webhooks)) {
      const { schema } = post.requestBody.content["application/json"]!;
      expect(schema.properties.type.const).toBe(event);
      expect(schema.properties.data.properties).toHaveProperty("tenantId");
    }
  });

  test("describes parameters in plain JSON Schema, without the gateway's own keywords", () => {
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
