import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { TrustListService } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { route } from "@vidimus/kit/rpc/doors/teams/teams-server";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serve } from "./support/fake-documents.ts";
import { openGateway } from "./support/start-gateway.ts";

const validFrom = timestampFromDate(new Date("2026-01-01T00:00:00.000Z"));
let failing = true;
let activeKeyId = "ed25519-new";
let gateway: Awaited<ReturnType<typeof openGateway>>;
let rpc: Awaited<ReturnType<typeof serve>>;

const [publicKey, signature] = [Buffer.from("public"), Buffer.from("signed")];
let delegation = "";
let revision = 1n;
/** Spaced unlike `JSON.stringify`, so that a body which the gateway has rewritten is found. */
const bodyOf = (active: string) => `{ "active":${active ? JSON.stringify(active) : "null"},"keys":[]}`;

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
  const keys = [active, old];
  const stated = { statement: `statement of ${activeKeyId}`, keyId: "list-key", publicKey, signature, delegation };
  return { activeKeyId, keys, revision, body: Buffer.from(bodyOf(activeKeyId)), stated };
};

beforeAll(async () => {
  rpc = await serve([route(TrustListService, { listKeys })]);
  gateway = await openGateway({ signingTarget: `127.0.0.1:${rpc.port}` });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rpc[Symbol.asyncDispose]();
});

const get = (headers: Record<string, string> = {}) => fetch(`${gateway.url}/api/keys`, { headers });

function expectStated({ headers }: Response, statement: string): void {
  const encoded = Buffer.from(statement).toString("base64");
  expect(headers.get("vidimus-trust-statement")).toBe(encoded);
  const root = delegation && `, delegation=:${Buffer.from(delegation).toString("base64")}:`;
  const dictionary = `keyid="list-key", key=:cHVibGlj:, sig=:c2lnbmVk:${root}`;
  expect(headers.get("vidimus-trust-signature")).toBe(dictionary);
  const exposed = "etag, vidimus-trust-signature, vidimus-trust-statement, x-request-id";
  expect(headers.get("access-control-expose-headers")).toBe(exposed);
}

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
  test("a request without an API key is answered the trust list, byte for byte as signing sent it", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(bodyOf("ed25519-new"));
    expectStated(response, "statement of ed25519-new");
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600, stale-if-error=3600");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("etag")).toMatch(/^W\/"/);
  });

  test("while signing is down, the list that it answered before is served", async () => {
    const { etag } = Object.fromEntries((await get()).headers);
    failing = true;
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
  });

  test("once signing answers again after an outage, its new list is served", async () => {
    activeKeyId = "";
    revision += 1n;
    failing = false;
    await vi.waitFor(async () => expect(await (await get()).json()).toMatchObject({ active: null }), {
      timeout: 5_000,
    });
  });
});

describe("304", () => {
  test("a client that holds the current list gets no body, but the statement and its signature", async () => {
    const etag = (await get()).headers.get("etag")!;
    const response = await get({ "if-none-match": etag });
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
    expect(response.headers.get("etag")).toBe(etag);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expectStated(response, "statement of ");
  });

  test("is not for a client whose copy lacks the new delegation, though the body is the same", async () => {
    const etag = (await get()).headers.get("etag")!;
    delegation = "of a root";
    revision += 1n;
    const asHolder = () => get({ "if-none-match": etag });
    await vi.waitFor(async () => expect((await asHolder()).status).toBe(200), patient);
    const response = await asHolder();
    expectStated(response, "statement of ");
    expect(await response.text()).toBe(bodyOf(""));
  });
});
