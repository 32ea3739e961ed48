import { memberClient } from "../../../../services/gateway/test/support/start-gateway.ts";
import type { Newsroom } from "../../../../tests/support/newsroom.ts";
import { sharedConstellation, type SharedConstellation } from "../../../../tests/support/shared-constellation.ts";
import { openTenants } from "../../../../tests/support/tenants.ts";
import { type LinkedConsole, openLinkedConsole } from "./linked-console.ts";

/** A console in front of all services. */
export interface FullConsole extends LinkedConsole {
  readonly dev: SharedConstellation["dev"];
  /** Port of access's teams door. */
  readonly accessPort: number;
  /** The tenant to which the console's one-time codes sign in. */
  readonly room: Newsroom;
  /** Calls access directly, with the role of an owner. */
  readonly members: ReturnType<typeof memberClient>;
  newRoom(): Promise<Newsroom>;
}

/**
 * Starts a console in this process, with a new tenant.
 *
 * @param stack the services; by default those that all test files of a worker share
 */
export async function openFullConsole(stack?: SharedConstellation): Promise<FullConsole> {
  const { dev } = stack ?? (await sharedConstellation({ mtls: false }));
  await using opening = new AsyncDisposableStack();
  const tenants = opening.use(openTenants(dev));
  const room = await tenants.create();
  opening.defer(() => disableEndpoints(room));
  const accessPort = Number(dev.grpc.access.split(":").at(-1));
  const settings = {
    CONSOLE_API_ORIGIN: dev.gateway,
    DOCUMENTS_TARGET: dev.grpc.documents,
    PHRASES_TARGET: dev.grpc.phrases,
    DELIVERY_TARGET: dev.grpc.delivery,
  };
  const console = opening.use(await openLinkedConsole(accessPort, settings, room.tenantId));
  const members = memberClient(accessPort);
  const opened = opening.move();
  return {
    ...console,
    dev,
    accessPort,
    room,
    members,
    newRoom: () => tenants.create(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Disables the tenant's endpoints, to which delivery would post again and again after their
 * receivers have gone.
 */
async function disableEndpoints({ endpoints, tenantId }: Newsroom): Promise<void> {
  const listed = await endpoints.listEndpoints({ tenantId });
  for (const { endpointId, disablement } of listed.endpoints) {
    if (!disablement) await endpoints.disableEndpoint({ tenantId, endpointId });
  }
}
