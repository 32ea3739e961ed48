import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Edge, openEdge } from "./support/open-edge.ts";
import { readRefusal } from "./support/read-refusal.ts";
import { bearer } from "./support/start-gateway.ts";

let edge: Edge;

beforeAll(async () => {
  edge = await openEdge();
});

afterAll(() => edge[Symbol.asyncDispose]());

describe("bodies that are refused", () => {
  test("leave the connection open for the next request when they are short", async () => {
    const auth = `Authorization: Bearer ${edge.key}\r\n`;
    const short = `POST /v1/documents HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: text/plain\r\nContent-Length: 60000\r\n\r\n`;
    const last = "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answer = await edge.raw(short + " ".repeat(60_000) + last);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 415", "HTTP/1.1 404"]);
  });

  test("end the connection when they are long, after a client that still sends got the answer", async () => {
    const mib = 1024 * 1024;
    const auth = `Authorization: Bearer ${edge.key}\r\n`;
    const large = `POST /v1/documents HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(mib, " "), Buffer.from("\r\n")]);
    const last = "0\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const chunks = Array.from({ length: 30 }, () => chunk);
    const answer = await edge.raw(Buffer.concat([Buffer.from(large), ...chunks, Buffer.from(last)]));
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 413"]);
    expect(answer).toMatch(/^connection: close\r$/m);
    expect(readRefusal(answer)).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
  });
});

describe("a path that takes no body", () => {
  const enable = async (body: string) => {
    const url = `${edge.gateway.url}/v1/webhooks/endpoints/${randomUUID()}/enable`;
    const headers = { ...bearer(edge.key), "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body });
    return { status: answer.status, text: await answer.text() };
  };

  test("treats the body {} as no body", async () => {
    const without = await enable("");
    expect(without.status).not.toBe(413);
    expect((await enable("{}")).status).toBe(without.status);
  });

  test.each(["[]", "{ }", `{"enabled":true}`])("refuses the body %s", async (body) => {
    const { status, text } = await enable(body);
    expect({ status, text }).toMatchObject({ status: 413, text: expect.stringContaining("this path takes no body") });
  });
});

describe("80 bodies of 1 MB that one tenant sends at once", () => {
  test("are answered 201 for more than 20 and 429 for the others, and a body sent later is answered 201", async () => {
    const gate = Promise.withResolvers<void>();
    edge.documents.beforeWork = () => gate.promise;
    const post = () => {
      const id = randomUUID();
      const filler = randomBytes(500_000).toString("hex");
      return fetch(`${edge.gateway.url}/v1/documents`, {
        method: "POST",
        headers: { ...bearer(edge.key), "content-type": "application/json" },
        body: JSON.stringify({ id, type: "core/newswire", title: filler }),
      });
    };
    const answers = Array.from({ length: 80 }, post);
    const early = await Promise.race(answers);
    expect(early.status).toBe(429);
    expect(early.headers.get("retry-after")).toBe("1");
    gate.resolve();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 429]));
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(20);
    edge.documents.beforeWork = () => {};
    expect((await post()).status).toBe(201);
  });
});
