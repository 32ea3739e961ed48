import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeySchema, TenantSchema } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { KeyRecord, TenantRecord } from "../domain/key-record.ts";

export function tenantToProto(tenant: TenantRecord): MessageInitShape<typeof TenantSchema> {
  const { tenantId, name, createdAt } = tenant;
  return { tenantId, name, createdAt: timestampFromDate(createdAt) };
}

export function apiKeyToProto(key: KeyRecord): MessageInitShape<typeof ApiKeySchema> {
  const { keyId, tenantId, prefix, name, scopes, createdAt, createdBy } = key;
  return { keyId, tenantId, prefix, name, scopes: [...scopes], createdAt: timestampFromDate(createdAt), createdBy };
}
