import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** Serialises a message. Throws ConnectError Internal when it is not valid. */
export function toWire<T extends DescMessage>(type: T, message: MessageInitShape<T>): Buffer {
  try {
    const bytes = toBinary(type, create(type, message));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    throw new ConnectError(`cannot write ${type.typeName}`, Code.Internal, undefined, undefined, error);
  }
}

/** Parses a message. Throws ConnectError Internal when the bytes are malformed. */
export function fromWire<T extends DescMessage>(type: T, bytes: Buffer): MessageShape<T> {
  try {
    // Fields of type bytes are views of the input. Views of a Buffer would not equal a Uint8Array.
    return fromBinary(type, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    throw new ConnectError(`cannot read ${type.typeName}`, Code.Internal, undefined, undefined, error);
  }
}
