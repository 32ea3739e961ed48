import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";

/**
 * From this size on, the two copies that protobuf-es makes of a value cost more than serialising it
 * separately.
 */
const largeBytesMin = 64 * 1024;

/**
 * Writes large values of the message's own bytes fields (not of nested messages) last, and copies
 * them only once. Throws ConnectError Internal when the message is not valid.
 */
export function toWire<T extends DescMessage>(type: T, message: MessageInitShape<T>): Buffer {
  try {
    const large = largeBytes(type, message);
    if (large.length === 0) return write(type, message);
    const emptied = Object.fromEntries(large.map(({ name }) => [name, new Uint8Array()]));
    const rest = write(type, { ...message, ...emptied });
    return Buffer.concat([rest, ...large.flatMap(({ prefix, value }) => [prefix, value])]);
  } catch (error) {
    throw new ConnectError(`cannot write ${type.typeName}`, Code.Internal, undefined, undefined, error);
  }
}

function write<T extends DescMessage>(type: T, message: MessageInitShape<T>): Buffer {
  const bytes = toBinary(type, create(type, message));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface LargeBytes {
  readonly name: string;
  /** Field number, wire type and length as protobuf encodes them before a value. */
  readonly prefix: Uint8Array;
  readonly value: Uint8Array;
}

function largeBytes(type: DescMessage, message: object): LargeBytes[] {
  return bytesFieldsOf(type).flatMap(({ localName: name, number }) => {
    const value: unknown = Reflect.get(message, name);
    if (!(value instanceof Uint8Array) || value.length < largeBytesMin) return [];
    const prefix = new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(value.length).finish();
    return [{ name, prefix, value }];
  });
}

const bytesFields = new WeakMap<DescMessage, DescMessage["fields"]>();

function bytesFieldsOf(type: DescMessage): DescMessage["fields"] {
  const known = bytesFields.get(type);
  if (known) return known;
  const fields = type.fields.filter(({ scalar, fieldKind, oneof }) => {
    return fieldKind === "scalar" && scalar === ScalarType.BYTES && !oneof;
  });
  bytesFields.set(type, fields);
  return fields;
}

/** @throws ConnectError Internal when the bytes are malformed */
export function fromWire<T extends DescMessage>(type: T, bytes: Buffer): MessageShape<T> {
  try {
    // Bytes fields are views of the input. They would be Buffers if the input were one, and a
    // Buffer is not deeply equal to a Uint8Array of the same bytes.
    return fromBinary(type, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    throw new ConnectError(`cannot read ${type.typeName}`, Code.Internal, undefined, undefined, error);
  }
}
