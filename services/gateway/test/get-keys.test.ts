import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { route } from "@vidimus/kit/rpc/server";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serve } from "./support/fake-documents.ts";
import { openGateway } from "./support/start-gateway.ts";

const validFrom = timestampFromDate(new Date("2026-01-01T00:00:00.000Z"));
let failing = true;
let activeKeyId = "ed25519-new";
let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;

const listKeys = () => {
  if (failing) throw new ConnectError("gone", Code.Unavailable);
  const old = {
    keyId: "ed25519-old",
    algorithm: "ed25519",
    publicKey: Buffer.from("old"),
    validFrom,
    validUntil: validFrom,
  };
  const active = { keyId: "ed25519-new", algorithm: "ed25519", publicKey: Buffer.from("new"), validFrom };
  return { activeKeyId, keys: [active, old], revision: 1n };
};

beforeAll(async () => {
  rpc = await serve([route(TrustListService, { listKeys })]);
  gateway = await openGateway({ signingTarget: `127.0.0.1:${rpc.port}` });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

const get = (headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${gateway.url}/api/keys`, { method, headers });

describe("503", () => {
  test("before signing has ever answered there is nothing to serve", async () => {
    const response = await get();
    expect(response.status).toBe(503);
    expect(response.headers.get("cache-control")).toBe("no-store");
    failing = false;
    await vi.waitFor(async () => expect((await get()).status).toBe(200), patient);
  });
});

describe("200", () => {
  test("the trust list is the body itself, and needs no key", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      active: "ed25519-new",
      keys: [
        {
          keyId: "ed25519-new",
          algorithm: "ed25519",
          publicKey: "bmV3",
          validFrom: "2026-01-01T00:00:00.000Z",
          validUntil: null,
        },
        {
          keyId: "ed25519-old",
          algorithm: "ed25519",
          publicKey: "b2xk",
          validFrom: "2026-01-01T00:00:00.000Z",
          validUntil: "2026-01-01T00:00:00.000Z",
        },
      ],
    });
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600, stale-if-error=3600");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("etag")).toMatch(/^W\/"/);
  });

  test("the last good copy serves while signing is down, and news arrive once it is back", async () => {
    const { etag } = Object.fromEntries((await get()).headers);
    failing = true;
    activeKeyId = "";
    const until = Date.now() + 1_500;
    await vi.waitFor(
      async () => {
        const response = await get();
        expect(response.status).toBe(200);
        expect(response.headers.get("etag")).toBe(etag);
        expect(Date.now()).toBeGreaterThan(until);
      },
      { timeout: 5_000 },
    );
    failing = false;
    await vi.waitFor(async () => expect(await (await get()).json()).toMatchObject({ active: null }), {
      timeout: 5_000,
    });
    activeKeyId = "ed25519-new";
  });

  test("a key in the header is not looked at", async () => {
    expect((await get({ authorization: "Bearer nonsense" })).status).toBe(200);
  });
});

describe("304", () => {
  test("a client that holds the copy gets no body", async () => {
    const etag = (await get()).headers.get("etag")!;
    const response = await get({ "if-none-match": etag });
    expect(response.status).toBe(304);
    expect(response.headers.get("etag")).toBe(etag);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("204 and 405", () => {
  test("a browser may ask from anywhere", async () => {
    const response = await get({ origin: "https://reader.example", "access-control-request-method": "GET" }, "OPTIONS");
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  test.each(["POST", "PUT", "DELETE", "PATCH", "PROPFIND"])("%s is METHOD_NOT_ALLOWED", async (method) => {
    const response = await get({}, method);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect(await response.json()).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } });
  });
});
