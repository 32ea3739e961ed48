import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import type { DeliveryPace } from "./config.ts";
import type { EndpointStore } from "./store/endpoint-store.ts";
import type { ReplicaStore } from "./store/replica-store.ts";
import type { KekChange } from "./store/secret-box.ts";

interface ReplaceKekDeps {
  readonly endpoints: Pick<EndpointStore, "sealAll">;
  readonly replicas: Pick<ReplicaStore, "allHold">;
  readonly kekChange: KekChange;
  readonly pace: Pick<DeliveryPace, "kekMs" | "kekGoneMs">;
  readonly log: Pick<Logger, "info" | "warn">;
}

/**
 * Opens every secret, so that the start fails when all were encrypted with a KEK that this process
 * lacks. A process with two KEKs then checks repeatedly whether every process has the new one. Once
 * they have, it encrypts with the new KEK, and encrypts anew what the old KEK has encrypted. It goes
 * on with that, because another process uses the old KEK until its own check.
 */
export async function replaceKek(deps: ReplaceKekDeps): Promise<AsyncDisposable | undefined> {
  await look(deps);
  if (deps.kekChange.otherId === undefined) return undefined;
  return repeat(() => look(deps), {
    everyMs: deps.pace.kekMs,
    pausesFirst: true,
    onFailure: (error) => deps.log.warn({ err: error }, "secrets are not encrypted anew yet"),
  });
}

async function look({ endpoints, replicas, kekChange, pace, log }: ReplaceKekDeps): Promise<void> {
  const { newestId, otherId } = kekChange;
  if (otherId !== undefined && !kekChange.isShared) {
    kekChange.isShared = await replicas.allHold(newestId, pace.kekGoneMs);
    if (kekChange.isShared)
      log.info({ kek: newestId }, "every process holds DELIVERY_KEK_FILE, which encrypts from now on");
  }
  const sealed = await endpoints.sealAll();
  if (sealed > 0) {
    log.info({ endpoints: sealed }, "encrypted what endpoints keep secret anew, under DELIVERY_KEK_FILE");
  }
}
