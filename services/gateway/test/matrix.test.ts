import { randomUUID } from "node:crypto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mintApiKey } from "../src/access/api-key.ts";
import { scopes } from "../src/access/scopes.ts";
import { routes } from "../src/endpoints/routes.ts";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { bearer, newKey } from "./support/start-gateway.ts";

const operations = routes.filter(({ url }) => url.startsWith("/v1/"));

const keys: Record<string, string> = {};
const byScope = new Map<string, string>();
let edge: Edge;
let gateway: Edge["gateway"];

beforeAll(async () => {
  edge = await openEdge();
  ({ gateway } = edge);
  const { access } = gateway;
  for (const scope of scopes) byScope.set(scope, await newKey(access, "acme", [scope]));
  const revoked = await access.createApiKey({ tenantId: "acme", name: "x", scopes: [...scopes] });
  await access.revokeApiKey({ tenantId: "acme", keyId: revoked.apiKey!.keyId });
  const expiresAt = timestampFromMs(Date.now() + 500);
  const expired = await access.createApiKey({ tenantId: "acme", name: "x", scopes: [...scopes], expiresAt });
  keys.revoked = revoked.secret;
  keys.expired = expired.secret;
  keys["of a disabled tenant"] = await newKey(access, "gone");
  await access.disableTenant({ tenantId: "gone" });
  const valid = byScope.get("publisher:read")!;
  keys["with a right prefix and a right checksum, but another secret"] = forged(valid);
  keys["with a bad checksum"] = valid.slice(0, -1) + (valid.endsWith("0") ? "1" : "0");
  await new Promise((resolve) => {
    setTimeout(resolve, 600);
  });
});

afterAll(() => edge[Symbol.asyncDispose]());

/** A key with the prefix of a real one, another secret, and a checksum that fits. */
function forged(key: string): string {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const [, prefix] = key.split("_");
  const secret = mintApiKey().key.split("_")[1]!;
  const body = `vk_${prefix}_${secret}${secret}${secret}${secret}`.slice(0, 59);
  let rest = crc32(body);
  let sum = "";
  for (let digits = 0; digits < 6; digits += 1) {
    sum = alphabet[rest % 62] + sum;
    rest = Math.floor(rest / 62);
  }
  return body + sum;
}

/** CRC-32 bit by bit, so that the gateway's checksum is not checked with the same function. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

async function call(operation: (typeof operations)[number], headers: Record<string, string>) {
  const { method, url, body } = operation;
  const path =
    url.replace(/:\w+/g, randomUUID()) + (url === "/v1/documents" && method === "GET" ? "?type=core/tag" : "");
  const response = await fetch(gateway.url + path, {
    method,
    headers: { ...headers, ...(body ? { "content-type": body.types[0]! } : {}) },
    ...(body ? { body: JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "x" }) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

describe.each(operations)("$method $url", (operation) => {
  test.each<[string, Record<string, string>]>([
    ["no Authorization header", {}],
    ["an empty Authorization header", { authorization: "" }],
    ["the scheme Bearer alone", { authorization: "Bearer" }],
    ["the scheme Token instead of Bearer", { authorization: `Token ${mintApiKey().key}` }],
    ["a key without a scheme", { authorization: mintApiKey().key }],
    ["a malformed key", bearer("vk_x_y")],
    ["an unknown key", bearer(mintApiKey().key)],
  ])("with %s is answered 401", async (_, headers) => {
    expect(await call(operation, headers)).toMatchObject({ status: 401 });
  });

  test("five kinds of invalid keys get the 401 of an unknown key, its body byte for byte", async () => {
    const answers = await Promise.all(Object.values(keys).map((key) => call(operation, bearer(key))));
    const unknown = await call(operation, bearer(mintApiKey().key));
    expect(JSON.parse(unknown.text).error.message).toBe("the API key is not valid");
    expect(Object.keys(keys)).toHaveLength(5);
    for (const { status, headers, text } of answers) {
      expect(status).toBe(401);
      expect(text).toBe(unknown.text);
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test.each(scopes)("a key with the scope %s alone is refused unless that is the endpoint's scope", async (scope) => {
    const { status, text } = await call(operation, bearer(byScope.get(scope)!));
    if (scope === operation.scope) {
      expect([401, 403]).not.toContain(status);
      return;
    }
    expect(status).toBe(403);
    expect(JSON.parse(text)).toEqual({
      ok: false,
      error: { code: "FORBIDDEN", message: `the API key lacks the scope ${operation.scope}` },
    });
  });
});

test("there are exactly six scopes", () => {
  expect(scopes).toEqual([
    "documents:create",
    "publisher:read",
    "phrases:read",
    "phrases:write",
    "webhooks:read",
    "webhooks:write",
  ]);
});
