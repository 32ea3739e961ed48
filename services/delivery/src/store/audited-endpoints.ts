import type { AuditAuthor, AuditedChange } from "@vidimus/tenancy/audit/audit-entry";
import type { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { auditedEndpoint } from "../domain/audited-endpoint.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { EndpointStore } from "./endpoint-store.ts";

/**
 * Writes the changes of endpoints that callers ask for, each in one transaction with its audit
 * entry. What delivery changes by itself, such as the disabling after two 410s, has none.
 */
export class AuditedEndpoints {
  readonly #endpoints: EndpointStore;
  readonly #audit: Pick<AuditLog, "transact">;

  constructor(endpoints: EndpointStore, audit: Pick<AuditLog, "transact">) {
    this.#endpoints = endpoints;
    this.#audit = audit;
  }

  async insert(endpoint: ManagedEndpoint, by: AuditAuthor): Promise<void> {
    await this.#audit.transact(async (session, record) => {
      await this.#endpoints.within(session).insert(endpoint);
      await record(by, entryOf("create_endpoint", endpoint, auditedEndpoint(undefined, endpoint)));
    });
  }

  /**
   * Stores a changed endpoint, unless somebody else has changed it since it was read.
   *
   * @param changed with the revision that was read
   * @returns whether it was stored
   */
  async replace(read: ManagedEndpoint, changed: ManagedEndpoint, action: string, by: AuditAuthor): Promise<boolean> {
    return this.#audit.transact(async (session, record) => {
      if (!(await this.#endpoints.within(session).replace(changed))) return false;
      await record(by, entryOf(action, changed, auditedEndpoint(read, changed)));
      return true;
    });
  }

  /**
   * Deletes an endpoint, also one whose secret or headers cannot be decrypted.
   *
   * @returns whether there was such an endpoint
   */
  async delete(tenantId: string, endpointId: string, by: AuditAuthor): Promise<boolean> {
    return this.#audit.transact(async (session, record) => {
      const url = await this.#endpoints.within(session).delete(tenantId, endpointId);
      if (url === undefined) return false;
      const detail = { origin: { from: URL.parse(url)?.origin } };
      await record(by, entryOf("delete_endpoint", { tenantId, endpointId }, detail));
      return true;
    });
  }
}

function entryOf(
  action: string,
  { tenantId, endpointId: subject }: Pick<ManagedEndpoint, "tenantId" | "endpointId">,
  detail: AuditedChange["detail"],
): AuditedChange {
  return { tenantId, action, subject, detail };
}
