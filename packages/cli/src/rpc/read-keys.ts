import type { AccessService, ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { ServiceCaller } from "./open-service.ts";
import { walkPages } from "./walk-pages.ts";

/** All keys of a tenant, newest first, including revoked and expired ones unless `liveOnly`. */
export async function readKeys(
  access: ServiceCaller<typeof AccessService>,
  tenantId: string,
  liveOnly = false,
): Promise<ApiKey[]> {
  const { rows } = await walkPages(Number.POSITIVE_INFINITY, async (page) => {
    const { apiKeys, nextPageToken } = await access.read((client, options) =>
      client.listApiKeys({ tenantId, liveOnly, ...page }, options),
    );
    return { rows: apiKeys, nextPageToken };
  });
  return rows;
}
