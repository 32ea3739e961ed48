import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { AuditEntry } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { SchemaService } from "@vidimus/contracts/vidimus/documents/v1/schema_service";
import {
  KeyAdminService,
  type ListAuditEntriesRequestSchema,
} from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import type { Session } from "../session.ts";
import { openService, type ServiceCaller } from "./open-service.ts";

export const auditedServices = ["access", "delivery", "documents", "signing"] as const;
export type AuditedService = (typeof auditedServices)[number];

/**
 * A request for signing's audit log; requests for the logs of other services also name a tenant.
 */
type AuditQuery = Omit<MessageInitShape<typeof ListAuditEntriesRequestSchema>, "$typeName" | "$unknown">;

interface AuditPage {
  readonly entries: AuditEntry[];
  readonly nextPageToken: string;
}

interface AuditReader extends Disposable {
  read(query: AuditQuery): Promise<AuditPage>;
}

/**
 * Opens the audit log of a service: that of the session's tenant, except for signing, whose log has
 * no tenants.
 */
export async function openAudit(session: Session, service: AuditedService): Promise<AuditReader> {
  const tenantOf = () => ({ tenantId: session.settings.get("tenant") });
  switch (service) {
    case "access":
      return readerOf(await openService(session, service, AccessService), (client, query, options) =>
        client.listAuditEntries({ ...query, ...tenantOf() }, options),
      );
    case "delivery":
      return readerOf(await openService(session, service, EndpointService), (client, query, options) =>
        client.listAuditEntries({ ...query, ...tenantOf() }, options),
      );
    case "documents":
      return readerOf(await openService(session, service, SchemaService), (client, query, options) =>
        client.listAuditEntries({ ...query, ...tenantOf() }, options),
      );
    case "signing":
      return readerOf(await openService(session, service, KeyAdminService), (client, query, options) =>
        client.listAuditEntries(query, options),
      );
    default:
      return service satisfies never;
  }
}

function readerOf<S extends DescService>(
  caller: ServiceCaller<S>,
  list: (client: Client<S>, query: AuditQuery, options: CallOptions) => Promise<AuditPage>,
): AuditReader {
  return {
    read: (query) => caller.read((client, options) => list(client, query, options)),
    [Symbol.dispose]: () => caller[Symbol.dispose](),
  };
}
