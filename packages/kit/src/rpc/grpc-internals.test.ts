import { Server, ServerCredentials } from "@grpc/grpc-js";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { dropPieces, grpcVersion, http2ServersOf } from "./grpc-internals.ts";

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
});
