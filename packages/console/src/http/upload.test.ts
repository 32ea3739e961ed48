import fastifyMultipart from "@fastify/multipart";
import { fastify } from "fastify";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { readUpload } from "./upload.ts";

test("reading an upload whose browser has already left fails, instead of waiting for ever", async () => {
  const app = fastify();
  await app.register(fastifyMultipart);
  const left = Promise.withResolvers<unknown>();
  const arrived = Promise.withResolvers<void>();
  app.post("/", async (request, reply) => {
    arrived.resolve();
    await once(reply.raw, "close");
    left.resolve(readUpload(request, { fileBytesMax: 0, textBytesMax: 100 }));
  });
  await app.listen({ port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port);
  const body = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n';
  const type = "Content-Type: multipart/form-data; boundary=b";
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await arrived.promise;
  socket.destroy();
  await expect(left.promise).rejects.toMatchObject({ kind: "invalid" });
  await app.close();
});
