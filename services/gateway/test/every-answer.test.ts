import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { uuidv7 } from "./support/read-refusal.ts";
import { bearer } from "./support/start-gateway.ts";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
});

afterAll(() => edge[Symbol.asyncDispose]());

beforeEach(() => {
  edge.documents.page = { itemsJson: "[]", nextCursor: "", hasMore: false, etag: 'W/"e"' };
  edge.documents.currentEtag = undefined;
});

describe("every answer", () => {
  const refused: [method: string, path: string][] = [
    ["GET", "/nowhere"],
    ["GET", "/v2/documents"],
    ["POST", "/api/keys"],
    ["GET", "/v1/documents"],
    ["GET", "/v1/documents?limit=%"],
    ["HEAD", "/nowhere"],
  ];
  const requests: typeof refused = [["GET", "/api/keys"], ["OPTIONS", "/v1/documents"], ...refused];
  const answerTo = (method: string, path: string) =>
    fetch(`${edge.gateway.url}${path}`, { method, headers: { "x-request-id": "chosen-by-client" } });

  test.each(requests)("to %s %s has a request id of the gateway's own", async (method, path) => {
    expect((await answerTo(method, path)).headers.get("x-request-id")).toMatch(uuidv7);
  });

  test.each(requests)("to %s %s has the security headers", async (method, path) => {
    const { headers } = await answerTo(method, path);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
    expect(headers.get("server")).toBeNull();
  });

  test.each(refused)("to %s %s, a refusal, is stored by no cache", async (method, path) => {
    const { status, headers } = await answerTo(method, path);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("compression", () => {
  async function compressed(encoding: string): Promise<{ encoding: string | undefined; body: Buffer }> {
    const answer = await edge.raw(
      `GET /v1/documents?type=core/tag HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${edge.key}\r\nAccept-Encoding: ${encoding}\r\n\r\n`,
    );
    const split = answer.indexOf("\r\n\r\n");
    const head = answer.slice(0, split);
    let rest = Buffer.from(answer.slice(split + 4), "latin1");
    expect(head).toMatch(/^vary: .*accept-encoding/im);
    if (/^transfer-encoding: chunked\r?$/im.test(head)) {
      const parts: Buffer[] = [];
      for (;;) {
        const end = rest.indexOf("\r\n");
        const size = Number.parseInt(rest.subarray(0, end).toString(), 16);
        if (size === 0) break;
        parts.push(rest.subarray(end + 2, end + 2 + size));
        rest = rest.subarray(end + 4 + size);
      }
      rest = Buffer.concat(parts);
    }
    return { encoding: /^content-encoding: (\w+)\r?$/im.exec(head)?.[1], body: rest };
  }

  /** Sets the page that documents answers from now on. A new tag means a change of the page. */
  const publish = (itemsJson: string, etag: string) => {
    edge.documents.page = { ...edge.documents.page, itemsJson, etag };
  };
  const large = () => `[${JSON.stringify("lorem ipsum ".repeat(400))}]`;

  test("brotli and gzip, where they are accepted, carry the bytes of the plain answer", async () => {
    publish(large(), 'W/"large"');
    const plain = await compressed("identity");
    const br = await compressed("gzip, br");
    const gzip = await compressed("gzip");
    expect([plain.encoding, br.encoding, gzip.encoding]).toEqual([undefined, "br", "gzip"]);
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(JSON.parse(plain.body.toString())).toMatchObject({ ok: true });
  });

  test("a small answer is not compressed", async () => {
    publish("[]", 'W/"small"');
    expect((await compressed("gzip, br")).encoding).toBeUndefined();
  });

  test("a changed page with the same tag is not answered from the compressed copy of the old one", async () => {
    edge.documents.currentEtag = 'W/"later"';
    for (const word of ["first", "other"]) {
      publish(large().replace("lorem", word), 'W/"same"');
      for (let reader = 0; reader < 2; reader += 1) {
        expect(brotliDecompressSync((await compressed("br")).body).toString()).toContain(word);
        expect(gunzipSync((await compressed("gzip")).body).toString()).toContain(word);
      }
    }
  });

  test("a compressed answer and a plain one have the same weak tag", async () => {
    publish(large(), 'W/"weak"');
    const get = (encoding: string) =>
      fetch(`${edge.gateway.url}/v1/documents?type=core/tag`, {
        headers: { ...bearer(edge.key), "accept-encoding": encoding },
      });
    const answers = await Promise.all(["br", "identity"].map(get));
    expect(answers.map(({ headers }) => headers.get("content-encoding"))).toEqual(["br", null]);
    expect(answers.map(({ headers }) => headers.get("etag"))).toEqual(['W/"weak"', 'W/"weak"']);
  });
});
