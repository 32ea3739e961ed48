import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { portOf } from "@vidimus/kit/port";

interface Pushed {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly meta: Record<string, unknown>;
}

/** An in-memory gateway that treats every request as a creation of a document. */
export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly documents: ReadonlyMap<string, Pushed>;
  /** Requests that are open now, and the most that were open at the same time. */
  readonly atOnce: { now: number; max: number };
  /** Bodies in order of arrival. */
  readonly bodies: string[];
  /**
   * Answers to the next requests, in turn. Later requests get the usual answers. `keep` stores the
   * document of the request.
   */
  readonly scripted: ((response: ServerResponse, keep: () => void) => void)[];
  /** The only valid key. */
  readonly key: string;
}

export async function openTestGateway(): Promise<TestGateway> {
  const documents = new Map<string, Pushed>();
  const bodies: string[] = [];
  const scripted: TestGateway["scripted"] = [];
  const atOnce = { now: 0, max: 0 };
  const key = "vk_test";
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    atOnce.max = Math.max(atOnce.max, ++atOnce.now);
    response.once("close", () => atOnce.now--);
    const body = await bodyOf(request);
    bodies.push(body);
    const keep = () => {
      const document = JSON.parse(body) as Pushed;
      documents.set(document.id, document);
    };
    const script = scripted.shift();
    if (script) return script(response, keep);
    if (request.headers.authorization !== `Bearer ${key}`) return refuse(response, 401, "UNAUTHORIZED", "no such key");
    const { id } = JSON.parse(body) as Pushed;
    if (documents.has(id)) return refuse(response, 409, "CONFLICT", `document ${id} already exists`);
    keep();
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, data: { id } }));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    documents,
    bodies,
    scripted,
    atOnce,
    key,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  extra: { headers?: Record<string, string>; details?: unknown } = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...extra.headers });
  response.end(
    JSON.stringify({ ok: false, error: { code, message, ...(extra.details ? { details: extra.details } : {}) } }),
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
