import { portOf } from "@vidimus/kit/port";
import { once } from "node:events";
import { createServer } from "node:http";

/** A collector of traces that only counts what it gets. */
interface Collector extends AsyncDisposable {
  readonly url: string;
  posts(): number;
  bytes(): number;
}

export async function openCollector(): Promise<Collector> {
  let posts = 0;
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    request.on("end", () => {
      posts += 1;
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    posts: () => posts,
    bytes: () => bytes,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
