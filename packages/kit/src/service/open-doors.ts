import type { TeamsConfig } from "./service.ts";
import { startMeshServer } from "../rpc/doors/mesh/mesh-server.ts";
import type { MeshRoute, TeamsRoute } from "../rpc/doors/shared/route.ts";
import type { RpcServer, RpcServerOptions } from "../rpc/doors/shared/rpc-server.ts";
import { startTeamsServer, type TeamsAccess } from "../rpc/doors/teams/teams-server.ts";

export interface DoorRoutes {
  readonly teams: readonly TeamsRoute[];
  /** For the platform's other services. */
  readonly mesh: readonly MeshRoute[];
}

export type DoorPorts = Pick<TeamsConfig, "grpcPort" | "meshPort">;

/**
 * Opens both doors and returns their ports. Disposing the stack closes both at the same time, so
 * that a stop lasts as long as one drain. It also closes the teams door when the mesh door could
 * not be opened.
 */
export async function openDoors(
  stack: AsyncDisposableStack,
  { host, grpcPort, meshPort }: DoorPorts & Pick<TeamsConfig, "host">,
  routes: DoorRoutes,
  options: Omit<RpcServerOptions, "routes" | "host" | "port"> & TeamsAccess,
): Promise<DoorPorts> {
  const open: RpcServer[] = [];
  stack.defer(async () => void (await Promise.all(open.map((door) => door[Symbol.asyncDispose]()))));
  const teams = await startTeamsServer({ ...options, host, port: grpcPort, routes: routes.teams });
  open.push(teams);
  const mesh = await startMeshServer({ ...options, host, port: meshPort, routes: routes.mesh });
  open.push(mesh);
  return { grpcPort: teams.port, meshPort: mesh.port };
}
