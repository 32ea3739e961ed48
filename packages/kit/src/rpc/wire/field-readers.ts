import type { DescField, DescMessage } from "@bufbuild/protobuf";

type FieldReader = (message: unknown) => readonly string[];

/**
 * Makes a function that returns, for a message type, the reader of all text fields named `name`:
 * the message's own and those of nested messages, such as the items of a batch, but not those of
 * messages in maps. Undefined for a type without such a field.
 *
 * @param name as in code, for example `tenantId`
 */
export function fieldReaders(name: string): (type: DescMessage) => FieldReader | undefined {
  const known = new WeakMap<DescMessage, FieldReader | undefined>();
  return (type) => {
    if (!known.has(type)) known.set(type, makeReader(name, type, []));
    return known.get(type);
  };
}

function makeReader(name: string, type: DescMessage, above: readonly DescMessage[]): FieldReader | undefined {
  // A message type may contain itself; it is then read one level deep.
  if (above.includes(type)) return undefined;
  const readers = type.fields.flatMap((field) => fieldReader(name, field, [...above, type]) ?? []);
  if (readers.length === 0) return undefined;
  return (message) => readers.flatMap((read) => read(message));
}

function fieldReader(name: string, field: DescField, above: readonly DescMessage[]): FieldReader | undefined {
  const member = field.oneof ? field.oneof.localName : field.localName;
  const valueOf = (message: unknown): unknown => {
    const value = memberOf(message, member);
    if (!field.oneof) return value;
    return memberOf(value, "case") === field.localName ? memberOf(value, "value") : undefined;
  };
  if (field.fieldKind === "scalar" && field.localName === name) {
    return (message) => {
      const value = valueOf(message);
      return [typeof value === "string" ? value : ""];
    };
  }
  const nested = field.message && field.fieldKind !== "map" ? makeReader(name, field.message, above) : undefined;
  if (!nested) return undefined;
  return (message) => {
    const value = valueOf(message);
    if (Array.isArray(value)) return value.flatMap((item) => nested(item));
    return value === undefined ? [] : nested(value);
  };
}

function memberOf(message: unknown, name: string): unknown {
  return typeof message === "object" && message !== null ? Reflect.get(message, name) : undefined;
}
