import type { DescService } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import { contextHeaders } from "@vidimus/kit/rpc/context/call-context";
import type { Session } from "../session.ts";
import { findStoppedStack } from "../settings/stopped-stack.ts";
import { ownCredentials } from "./own-credentials.ts";
import { isUnavailable, rpcFailure } from "./rpc-failure.ts";

const readPausesMs = [200, 800, 2_000] as const;

/** Makes one call with the given client; must pass the options on, which name user and role. */
type Act<S extends DescService, T> = (client: Client<S>, options: CallOptions) => Promise<T>;

/** An internal service, called as the session's user and role. A failed call throws CliError. */
export interface ServiceCaller<S extends DescService> extends Disposable {
  /** Makes a call once, because a repeated write could take effect twice. */
  call<T>(act: Act<S, T>): Promise<T>;
  /** Makes a read or an idempotent write; repeats it up to three times after UNAVAILABLE. */
  read<T>(act: Act<S, T>): Promise<T>;
}

/** Opens an internal service. `at` names the service, and also the setting with its address. */
export async function openService<S extends DescService>(
  session: Session,
  at: "access" | "documents" | "delivery" | "phrases" | "signing",
  service: S,
): Promise<ServiceCaller<S>> {
  const target = session.settings.get(at);
  const role = session.settings.get("role");
  // Imported here, because loading the RPC client takes 0.2 s of CPU, which help texts and refused
  // command lines do not need.
  const { openRpcClient } = await import("@vidimus/kit/rpc/client/client");
  const credentials = await ownCredentials(session.settings, at);
  const client = openRpcClient(service, { target, credentials });
  const headers = contextHeaders({ actor: `cli:${session.world.user}`, role });
  const named = `the ${at} service at ${target}`;
  const attempt = async <T>(act: Act<S, T>, pausesMs: readonly number[]): Promise<T> => {
    try {
      return await act(client, { headers });
    } catch (error) {
      const stopped = isUnavailable(error) && (await findStoppedStack(session.settings, at, named));
      if (stopped) throw stopped;
      const [pauseMs, ...later] = isUnavailable(error) ? pausesMs : [];
      if (pauseMs === undefined) throw rpcFailure(error, named);
      await session.world.sleep(pauseMs);
      return attempt(act, later);
    }
  };
  return {
    call: (act) => attempt(act, []),
    read: (act) => attempt(act, readPausesMs),
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
