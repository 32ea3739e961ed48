import { once } from "node:events";
import { createServer } from "node:http";
import { portOf } from "@vidimus/kit/port";

/** The answer to each request with one method and path. */
export interface TestPage {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves fixed pages. Their keys are method and path without query, such as `GET /readyz`;
 * everything else is 404. `asked` lists the requests: method, URL and Authorization header.
 */
export async function openTestPages(
  pages: Readonly<Record<string, TestPage>>,
): Promise<{ url: string; asked: string[] } & AsyncDisposable> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method, url = "", headers } = request;
    asked.push(`${method} ${url} ${headers.authorization ?? "-"}`);
    const page = pages[`${method} ${url.split("?")[0]}`] ?? { status: 404 };
    const body = typeof page.body === "string" ? page.body : JSON.stringify(page.body ?? {});
    response.writeHead(page.status ?? 200, page.headers).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
