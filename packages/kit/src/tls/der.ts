/** The parts of DER (X.690) that an X.509 certificate needs. */
import { isIPv4 } from "node:net";

/** Encodes one element: tag, length, content. */
export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits = bytes.toString(16);
  const big = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.from([0x80 | big.length]), big]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => element(0x31, ...parts);
export const octets = (bytes: Uint8Array): Buffer => element(0x04, bytes);
/** A bit string with a multiple of eight bits, or with `unused` bits at its end. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => element(0x03, Buffer.from([unused]), bytes);
export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text));
export const isTrue: Buffer = element(0x01, Buffer.from([0xff]));

/** A positive integer, given by its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  return (bytes[0] ?? 0) >= 0x80 ? element(0x02, Buffer.from([0]), bytes) : element(0x02, bytes);
}

/** An object identifier such as `2.5.29.17`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first * 40 + second]), ...others.map(base128));
}

function base128(value: number): Buffer {
  const groups = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) groups.unshift((rest & 0x7f) | 0x80);
  return Buffer.from(groups);
}

/** UTCTime until 2049, GeneralizedTime after it, as RFC 5280 demands. */
export function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]|\.\d{3}/g, "");
  return date.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(text.slice(2), "latin1"))
    : element(0x18, Buffer.from(text, "latin1"));
}

/** GeneralName of a subject alternative name. */
export const uriName = (uri: string): Buffer => element(0x86, Buffer.from(uri, "latin1"));

/** GeneralName of a host: an IPv4 address, `::1`, or a DNS name. */
export function hostName(host: string): Buffer {
  if (isIPv4(host)) return element(0x87, Buffer.from(host.split(".").map(Number)));
  if (host === "::1") return element(0x87, Buffer.from([...Array<number>(15).fill(0), 1]));
  return element(0x82, Buffer.from(host, "latin1"));
}
