import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { AttackForm, AttackTarget } from "./attack-form.ts";

const mib = 1024 * 1024;

/**
 * The forms of attack that the benchmark `attack` runs together. Bodies of 100 MB come one a
 * second, about the rate of a gigabit link.
 */
export function attackForms({ apiKey }: Pick<AttackTarget, "apiKey">): AttackForm[] {
  const head = `POST /v1/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\n`;
  const sized = (body: Buffer | string, headers = "") => [
    `${head}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`,
    body,
  ];
  const bomb = gzipSync(Buffer.alloc(100 * mib));
  const deep = () => `{"id":"${randomUUID()}","type":"t","title":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  return [
    { name: "slow headers", held: 200, pieces: () => ["GET /api/keys HTTP/1.1\r\nHost: x\r\nA: "] },
    {
      name: "slow bodies",
      held: 200,
      pieces: () => [`${head}Content-Length: 100000\r\n\r\n${" ".repeat(50_000)}`],
    },
    { name: "bodies of 100 MB", perSecond: 1, pieces: () => endless(head) },
    { name: "gzip bombs", perSecond: 10, pieces: () => sized(bomb, "Content-Encoding: gzip\r\n") },
    { name: "20,000-deep JSON", perSecond: 10, pieces: () => sized(deep()) },
    {
      name: "bad chunks",
      perSecond: 10,
      pieces: () => [`${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`],
    },
  ];
}

/** Without Content-Length, so that the gateway must read the body to refuse it. */
function* endless(head: string): Generator<string | Buffer> {
  yield `${head}Transfer-Encoding: chunked\r\n\r\n`;
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(mib, " "), Buffer.from("\r\n")]);
  for (let sent = 0; sent < 100; sent += 1) yield chunk;
  yield "0\r\n\r\n";
}
