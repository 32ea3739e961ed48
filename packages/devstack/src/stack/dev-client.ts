import type { DescService } from "@bufbuild/protobuf";
import { openRpcClient, type RpcClient, type RpcCredentials } from "@vidimus/kit/rpc/client/client";
import { fileCredentials } from "@vidimus/kit/tls/file-credentials";
import type { TlsFiles } from "@vidimus/kit/tls/tls-files";
import type { DevJson } from "./dev-json.ts";

type DoorName = keyof DevJson["grpc"];

/** Opens a client at a door of `dev.grpc`, with the operator's certificate, if there is one. */
export function openDevClient<S extends DescService>(
  dev: Pick<DevJson, "grpc" | "tls">,
  door: DoorName,
  service: S,
): RpcClient<S> {
  return openRpcClient(service, { target: dev.grpc[door], credentials: devCredentials(dev.tls, door) });
}

/** Credentials for a door of a dev stack; undefined without certificate files. */
export function devCredentials(tls: TlsFiles | undefined, door: DoorName): RpcCredentials | undefined {
  return tls && fileCredentials(tls, door === "access" ? "gateway" : door);
}
