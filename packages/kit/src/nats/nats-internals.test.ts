import { NodeTransport } from "nats/lib/src/node_transport.js";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer, type Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { portOf } from "../port.ts";
import { patient } from "../testing/patient.ts";
import { closeSocketsAtOnce, natsVersion } from "./nats-internals.ts";

const info = 'INFO {"server_id":"x","version":"2.10.0","max_payload":1048576,"tls_required":true}\r\n';

/** Begins a dial to a server that says `greeting` and then nothing. */
async function beginDial(stack: AsyncDisposableStack, greeting: string) {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => (socket.write(greeting), accepted.resolve(socket)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  stack.defer(() => void server.close());
  const transport = new NodeTransport();
  const to = { hostname: "127.0.0.1", port: portOf(server.address()), tlsName: "localhost" };
  const dialled = transport.connect(to, { tls: {} });
  dialled.catch(() => {});
  return { transport, dialled, accepted: accepted.promise };
}

type Dial = Awaited<ReturnType<typeof beginDial>>;
const isConnected = ({ transport }: Dial) => vi.waitUntil(() => "socket" in transport, patient);
const hasBegunTls = async ({ accepted }: Dial) => once(await accepted, "data");

test("the kit's changes to nats.js are made for the version that is installed", () => {
  const { version }: { version: unknown } = createRequire(import.meta.url)("nats/package.json");
  expect(version).toBe(natsVersion);
});

test.for([
  ["before it is connected", "", async () => {}],
  ["while it waits for the broker's first line", "", isConnected],
  ["while the broker answers no TLS handshake", info, hasBegunTls],
] as const)("a dial that is given up %s leaves no socket open", async ([, greeting, until]) => {
  await using stack = new AsyncDisposableStack();
  closeSocketsAtOnce();
  const dial = await beginDial(stack, greeting);
  await until(dial);
  await dial.transport.close(new Error("timeout"));
  const socket = await dial.accepted;
  stack.defer(() => void socket.destroy());
  socket.resume();
  await vi.waitFor(() => expect(socket.closed).toBe(true), patient);
  await expect(dial.dialled).rejects.toThrow();
});
