import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
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
 * Opens every secret once, so that the start fails when all were encrypted with a KEK that this
 * process lacks. A process with two KEKs then checks repeatedly whether every process has the new
 * one. Once they have, it encrypts with the new KEK, and encrypts anew what the old KEK has
 * encrypted. It goes on checking, because another process uses the old KEK until its own check.
 */
export async function replaceKek(deps: ReplaceKekDeps): Promise<AsyncDisposable> {
  await look(deps);
  const stop = new AbortController();
  const loop = deps.kekChange.otherId === undefined ? undefined : lookUntilStopped(deps, stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await loop;
    },
  };
}

async function lookUntilStopped(deps: ReplaceKekDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    await pause(deps.pace.kekMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    await look(deps).catch((error: unknown) => {
      deps.log.warn({ err: error }, "secrets are not encrypted anew yet");
    });
  }
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
