import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** Reads the tenants that a message names. */
type TenantReader = (message: unknown) => readonly string[];

/** The field of every request that names a tenant. */
const tenantField = "tenantId";
const known = new WeakMap<DescMessage, TenantReader | undefined>();

/**
 * Returns a function that reads the tenants that a request names: `tenant_id`, its own and those of
 * the messages in it, such as the items of a batch. Undefined for a type that has none.
 */
export function tenantReader(type: DescMessage): TenantReader | undefined {
  if (!known.has(type)) known.set(type, makeReader(type, []));
  return known.get(type);
}

function makeReader(type: DescMessage, above: readonly DescMessage[]): TenantReader | undefined {
  // A message may contain its own type. The tenants of one level are enough then.
  if (above.includes(type)) return undefined;
  const readers = type.fields.flatMap((field) => fieldReader(field, [...above, type]) ?? []);
  if (readers.length === 0) return undefined;
  return (message) => readers.flatMap((read) => read(message));
}

function fieldReader(field: DescField, above: readonly DescMessage[]): TenantReader | undefined {
  const name = field.oneof ? field.oneof.localName : field.localName;
  const valueOf = (message: unknown): unknown => {
    const value = memberOf(message, name);
    if (!field.oneof) return value;
    return memberOf(value, "case") === field.localName ? memberOf(value, "value") : undefined;
  };
  if (field.fieldKind === "scalar" && field.localName === tenantField) {
    return (message) => {
      const value = valueOf(message);
      return [typeof value === "string" ? value : ""];
    };
  }
  const nested = field.message && field.fieldKind !== "map" ? makeReader(field.message, above) : undefined;
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
