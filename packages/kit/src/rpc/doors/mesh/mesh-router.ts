import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createServiceImplSpec, type MethodImplSpec } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { handleServerStreamingCall, handleUnaryCall, Server, StatusObject } from "@grpc/grpc-js";
import { freeBuffer } from "../../../tuning/free-buffer.ts";
import { MeshCall, type MeshDoor } from "./mesh-call.ts";
import { messageBytesMax } from "../../wire/message-limit.ts";
import { responseMetadata } from "../../wire/metadata.ts";
import { ReceivedMessage } from "../../../tuning/received-message.ts";
import { boundedStream } from "../shared/bounded-stream.ts";
import { dropPieces } from "../../grpc-internals.ts";
import type { ServiceRegistry } from "../shared/route.ts";
import { toWire, fromWire } from "../../../tuning/wire-message.ts";

type Spec<K extends MethodImplSpec["kind"]> = Extract<MethodImplSpec, { kind: K }>;

/**
 * Registers Connect services on a grpc-js server. Throws a TypeError at methods with a stream of
 * requests.
 */
export function meshRouter(server: Server, door: MeshDoor): ServiceRegistry {
  return {
    service(service, implementation) {
      for (const spec of Object.values(createServiceImplSpec(service, implementation).methods)) add(server, spec, door);
    },
  };
}

function add(server: Server, spec: MethodImplSpec, door: MeshDoor): void {
  const path = `/${spec.method.parent.typeName}/${spec.method.name}`;
  // Bytes are passed on unparsed, so that malformed messages are counted and logged here like other
  // failures.
  if (spec.kind === "unary") {
    server.register(path, serveUnary(spec, door), identity, received, "unary");
  } else if (spec.kind === "server_streaming") {
    server.register(path, serveStream(spec, door), identity, received, "serverStream");
  } else {
    throw new TypeError(`the mesh door does not carry ${path}, which takes a stream of requests`);
  }
}

function serveUnary({ method, impl }: Spec<"unary">, door: MeshDoor): handleUnaryCall<ReceivedMessage, Buffer> {
  return (wire, respond) => {
    const call = new MeshCall(method, wire, door, (error) => respond(statusOf(error, call)));
    const answer = async () => {
      call.admit();
      const request = (call.request = readRequest(method.input, wire));
      const bytes = answerOf(method.output, await impl(request, call));
      if (call.end()) respond(null, bytes, call.trailer);
    };
    answer().catch((error: unknown) => call.fail(error));
  };
}

function serveStream(
  { method, impl }: Spec<"server_streaming">,
  door: MeshDoor,
): handleServerStreamingCall<ReceivedMessage, Buffer> {
  return (wire) => {
    const call = new MeshCall(method, wire, door, (error) => wire.emit("error", statusOf(error, call)));
    // Waits until the socket has taken each message: grpc-js buffers 16 messages of any size before
    // it applies backpressure. Waits for ever when the caller takes no more.
    const written = (bytes: Buffer) => new Promise<void>((resolve) => void wire.write(bytes, () => resolve()));
    const answer = async () => {
      call.admit();
      const request = (call.request = readRequest(method.input, wire));
      for await (const message of boundedStream(impl(request, call), call.signal, door.stalledMs)) {
        if (call.hasEnded) return;
        call.sendHeader();
        const bytes = answerOf(method.output, message);
        await written(bytes);
        freeBuffer(bytes);
      }
      if (call.end()) wire.end(call.trailer);
    };
    answer().catch((error: unknown) => call.fail(error));
  };
}

/** Parses the request, and drops all other references to its bytes. */
function readRequest<T extends DescMessage>(type: T, wire: { request: ReceivedMessage }): MessageShape<T> {
  dropPieces(wire);
  return fromWire(type, wire.request.take());
}

/** The status has the error's details and metadata, and the handler's trailers. */
function statusOf(error: ConnectError, call: MeshCall): StatusObject & Error {
  const metadata = responseMetadata(setTrailerStatus(call.responseTrailer, error));
  // grpc-js throws when it encodes half a surrogate pair.
  const details = error.rawMessage.toWellFormed();
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- both libraries number gRPC's codes as gRPC does
  return { name: error.name, message: details, code: error.code as number, details, metadata };
}

function answerOf<T extends DescMessage>(type: T, message: MessageInitShape<T>): Buffer {
  const bytes = toWire(type, message);
  if (bytes.length <= messageBytesMax) return bytes;
  throw new ConnectError(`the answer is larger than ${messageBytesMax} bytes`, Code.ResourceExhausted);
}

const received = (bytes: Buffer): ReceivedMessage => new ReceivedMessage(bytes);
const identity = (bytes: Buffer): Buffer => bytes;
