import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { Http2SubchannelConnector } from "@grpc/grpc-js/build/src/transport.js";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { dropPieces, grpcVersion, http2ServersOf, keepDrainingCalls } from "./grpc-internals.ts";

/**
 * The version of the installed grpc-js, from its `package.json`. The file is read by its path,
 * because the package's `exports` may not name it.
 */
function installedVersion(): unknown {
  const main = createRequire(import.meta.url).resolve("@grpc/grpc-js");
  const { version }: { version: unknown } = JSON.parse(readFileSync(join(dirname(main), "../../package.json"), "utf8"));
  return version;
}

describe("the private fields of grpc-js", () => {
  test("are known for the version that is installed", () => {
    expect(installedVersion()).toBe(grpcVersion);
  });

  test("show the HTTP/2 server of the address that a server is bound to", async () => {
    const server = new Server();
    const port = await promisify(server.bindAsync.bind(server))("127.0.0.1:0", ServerCredentials.createInsecure());
    expect(http2ServersOf(server).map((each) => each.address())).toEqual([expect.objectContaining({ port })]);
    server.forceShutdown();
  });

  test("cause an error that names the field when an object lacks it", () => {
    expect(() => http2ServersOf(new Server())).toThrow("no http2Servers");
    expect(() => dropPieces({ call: {} })).toThrow("no readPartialMessage");
  });

  test("cause an error when a new connection has no session", async () => {
    keepDrainingCalls();
    const connector = new Http2SubchannelConnector({ path: "server" });
    Reflect.set(connector, "tcpConnect", async () => new Socket());
    Reflect.set(connector, "createSession", async () => ({}));
    const plaintext = credentials.createInsecure()._createSecureConnector({ path: "server" }, {});
    const connected = connector.connect({ host: "127.0.0.1", port: 1 }, plaintext, {});
    await expect(connected).rejects.toThrow("grpc-js has changed: no session");
  });
});
