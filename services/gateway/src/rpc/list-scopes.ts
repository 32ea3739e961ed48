import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { scopeDescriptions, scopes } from "../access/scopes.ts";

export function listScopes(): MethodImpl<typeof AccessService.method.listScopes> {
  return () => ({ scopes: scopes.map((name) => ({ name, description: scopeDescriptions[name] })) });
}
