import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";

const run = promisify(execFile);
const page = readFileSync(join(import.meta.dirname, "../docs/pushing.md"), "utf8");
const [, loop = ""] = /## A loop that loses nothing\n\n```python\n([^]*?)```/.exec(page) ?? [];

let server: Server | undefined;
afterEach(() => void server?.close());

interface Given {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/**
 * What the program of docs/pushing.md says when its calls get these answers, one after the other.
 */
async function push(...answers: Given[]): Promise<string> {
  server = createServer((request, response) => {
    request.resume();
    const { status, body, headers = {} } = answers.shift() ?? { status: 500, body: "" };
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const program = `${loop}
time.sleep = lambda seconds: print("pause", seconds)
try:
    print(push("http://127.0.0.1:${port}", "vk_x", {"id": "1"}))
except Exception as error:
    print(type(error).__name__, error)
`;
  return (await run("python3", ["-c", program])).stdout.trim();
}

const html: Given = { status: 502, body: "<html><h1>502 Bad Gateway</h1></html>" };
const created: Given = { status: 201, body: "{}" };

test("the loop of docs/pushing.md goes on after a proxy's 502 in HTML", async () => {
  expect(await push(html, created)).toBe("pause 1\ncreated");
});

test("the loop waits as long as a Retry-After in seconds says", async () => {
  const busy = { status: 503, body: "{}", headers: { "Retry-After": "7" } };
  expect(await push(busy, created)).toBe("pause 7.0\ncreated");
});

test("the loop waits as without a Retry-After when that is a date", async () => {
  const dated = { ...html, headers: { "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT" } };
  expect(await push(dated, created)).toBe("pause 1\ncreated");
});

const conflict = (reason: string): Given => ({
  status: 409,
  body: JSON.stringify({ error: { code: "CONFLICT", message: "taken", details: [{ pointer: "/id", reason }] } }),
});

test('the loop returns "existing" for a 409 with the reason same_content', async () => {
  expect(await push(conflict("same_content"))).toBe("existing");
});

test.each([
  ["JSON", JSON.stringify({ error: "Forbidden" })],
  ["HTML", "<html></html>"],
])("the loop raises ValueError for a 403 that is not the platform's, in %s", async (_, body) => {
  expect(await push({ status: 403, body })).toMatch(/^ValueError 403 \?: /);
});

test("the loop raises ValueError for a 409 with the reason other_content", async () => {
  expect(await push(conflict("other_content"))).toContain("ValueError 409 CONFLICT: taken");
});
