import { randomUUID } from "node:crypto";
import type { AttackForm, AttackTarget } from "./attack-form.ts";
import { doublingSchema, replaceType, urlSchema } from "./hostile-types.ts";

/** A way in which a tenant takes more than its share with one valid key. */
export interface NeighbourForm extends AttackForm {
  /**
   * What the tenant must have before the form begins: 4 MiB pages, or a dictionary larger than
   * socket buffers.
   */
  readonly needs?: "pages" | "dictionary";
}

const mib = 1024 * 1024;
const importPath = "/v1/phrases/import";
const json = "Content-Type: application/json\r\n";
const csv = "Content-Type: text/csv\r\n";
const reopenMs = 3_000;
const once = Number.POSITIVE_INFINITY;

export function neighbourForms(target: AttackTarget): NeighbourForm[] {
  return [...requestForms(target), ...readerForms(target), ...importForms(target), ...typeForms(target)];
}

export function neighbourForm(name: string, target: AttackTarget): NeighbourForm {
  const form = neighbourForms(target).find((each) => each.name === name);
  if (!form) throw new Error(`there is no form ${name}`);
  return form;
}

function requestForms({ apiKey }: AttackTarget): NeighbourForm[] {
  const charset = `Content-Type: application/json; charset=${" ".repeat(15_000)}"x"y\r\n`;
  // 2^53 is exact, but so large that the text is searched again for integers that are not.
  const numbers = `{"blocks":[],"n":[9007199254740992${",0".repeat(500_000)}]}`;
  const slow = () => `{"id":"${randomUUID()}","type":"core/newswire","title":"Ferry cancelled","content":${numbers}}`;
  return [
    {
      name: "charset",
      held: 100,
      reopenMs,
      // All from one address, so that the limit per address applies.
      pieces: () => whole(request("POST", "/v1/documents", apiKey, 0), charset, "{}"),
    },
    {
      name: "slow-parse",
      held: 60,
      reopenMs,
      pieces: (connection) => whole(request("POST", "/v1/documents", apiKey, connection), json, slow()),
    },
    {
      name: "refused-bodies",
      held: 64,
      reopenMs: 1_000,
      // 131 MB a second in all, about the rate of a gigabit link.
      pieceEveryMs: 32,
      pieces: (connection) => endless(apiKey, connection),
    },
    {
      name: "long-polls",
      held: 400,
      reopenMs: 20,
      heedsRetryAfter: true,
      pieces: (connection) => [
        `${request("GET", "/v1/publisher/changes?type=core/audio&wait=20", apiKey, connection)}\r\n`,
      ],
    },
  ];
}

function readerForms({ apiKey }: AttackTarget): NeighbourForm[] {
  return [
    {
      name: "slow-readers",
      needs: "dictionary",
      held: 2_150,
      opensPerSecond: 500,
      reopenMs: once,
      readEveryMs: 16_000,
      pieces: (connection) => [`${request("GET", "/v1/phrases?format=csv", apiKey, connection)}\r\n`],
    },
    {
      name: "unread-pages",
      needs: "pages",
      held: 1_000,
      opensPerSecond: 500,
      reopenMs: once,
      readEveryMs: Number.POSITIVE_INFINITY,
      pieces: (connection) => [
        `${request("GET", "/v1/documents?type=core/article&limit=200", apiKey, connection)}\r\n`,
      ],
    },
  ];
}

function importForms({ apiKey }: AttackTarget): NeighbourForm[] {
  // One long row, so that the gateway holds the bytes of the import and does not refuse it for its
  // number of rows.
  const begun = 'language,phrase\nsv,"';
  const stalled = (bytes: number, connection: number) => [
    `${request("POST", importPath, apiKey, connection)}${csv}Content-Length: ${bytes}\r\n\r\n${begun}`,
    Buffer.alloc(bytes - begun.length - 1, "x"),
  ];
  const imported = (name: string, type: string, body: Buffer): NeighbourForm => ({
    name,
    held: 4,
    reopenMs,
    pieces: (connection) => whole(request("POST", importPath, apiKey, connection), type, body),
  });
  return [
    {
      name: "stalled-imports",
      held: 7,
      reopenMs: 500,
      pieces: (connection) => stalled((connection < 6 ? 10 : 4) * mib, connection),
    },
    imported("csv-commas", csv, Buffer.from(`language,phrase\n${",\n".repeat(5 * 1_000_000)}`)),
    imported("json-objects", json, Buffer.from(`[${"{},".repeat(3_300_000)}{}]`)),
  ];
}

function typeForms(target: AttackTarget): NeighbourForm[] {
  const create = (connection: number, type: string, source: string) => {
    const body = JSON.stringify({ id: randomUUID(), type, title: "Ferry cancelled", meta: { source } });
    return whole(request("POST", "/v1/documents", target.apiKey, connection), json, body);
  };
  return [
    {
      name: "url-colons",
      held: 4,
      reopenMs,
      prepare: () => replaceType(target, { "core/article": urlSchema }),
      pieces: (connection) => create(connection, "core/article", `http://${":".repeat(300_000)}`),
    },
    {
      name: "defs-doubling",
      held: 4,
      reopenMs,
      prepare: () => replaceType(target, { "core/article": doublingSchema(28), "core/image": doublingSchema(40) }),
      pieces: (connection) => create(connection, connection < 2 ? "core/article" : "core/image", "x"),
    },
  ];
}

/**
 * A request's head up to the form's headers. Each number of a connection has another client
 * address, as behind a trusted proxy.
 */
function request(method: string, path: string, apiKey: string, connection: number): string {
  const client = `2001:db8:${(connection + 1).toString(16)}::1`;
  const common = `Host: x\r\nConnection: close\r\nX-Forwarded-For: ${client}\r\nAuthorization: Bearer ${apiKey}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${common}`;
}

function whole(head: string, type: string, body: Buffer | string): (string | Buffer)[] {
  return [`${head}${type}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`, body];
}

/**
 * A request with an endless body. Half of the connections are refused because of their type before
 * the body is read, the others because of its length at 1 MiB.
 */
function* endless(apiKey: string, connection: number): Generator<string | Buffer> {
  const type = connection % 2 === 0 ? json : "Content-Type: text/plain\r\n";
  yield `${request("POST", "/v1/documents", apiKey, connection)}${type}Transfer-Encoding: chunked\r\n\r\n`;
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, " "), Buffer.from("\r\n")]);
  for (;;) yield chunk;
}
