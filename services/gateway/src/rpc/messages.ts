import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeySchema, TenantSchema } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { KeyRecord, TenantRecord } from "../access/key-record.ts";

export function tenantToProto(tenant: TenantRecord): MessageInitShape<typeof TenantSchema> {
  const { tenantId, name, createdAt, disabledAt } = tenant;
  return { tenantId, name, createdAt: timestampFromDate(createdAt), ...stamp("disabledAt", disabledAt) };
}

export function apiKeyToProto(key: KeyRecord): MessageInitShape<typeof ApiKeySchema> {
  const { keyId, tenantId, prefix, name, scopes, createdAt, createdBy, replacedBy = "" } = key;
  return {
    keyId,
    tenantId,
    prefix,
    name,
    scopes: [...scopes],
    createdBy,
    replacedBy,
    createdAt: timestampFromDate(createdAt),
    ...stamp("expiresAt", key.expiresAt),
    ...stamp("revokedAt", key.revokedAt),
    ...stamp("lastUsedAt", key.lastUsedAt),
  };
}

function stamp<Name extends string>(name: Name, date: Date | undefined): { [N in Name]?: Timestamp } {
  return date ? ({ [name]: timestampFromDate(date) } as { [N in Name]?: Timestamp }) : {};
}
