import { durationMs } from "@bufbuild/protobuf/wkt";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryRequest,
  Replay,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { isoTime } from "../rpc/iso-time.ts";

/** A delivery as `--json` prints it. */
export function toShown(delivery: Delivery) {
  const { deliveryId, endpointId, webhookId, state, attemptCount, lastAttempt } = delivery;
  return {
    id: deliveryId,
    endpointId,
    event: delivery.event,
    aboutEndpointId: delivery.aboutEndpointId || null,
    documentId: delivery.documentId || null,
    documentType: delivery.documentType || null,
    version: Number(delivery.version) || null,
    sequence: Number(delivery.sequence) || null,
    webhookId,
    state,
    attemptCount,
    createdAt: isoTime(delivery.createdAt),
    endedAt: isoTime(delivery.endedAt),
    nextAttemptAt: isoTime(delivery.nextAttemptAt),
    lastAttempt: lastAttempt ? toShownAttempt(lastAttempt) : null,
  };
}

/** An attempt as `--json` prints it. */
export function toShownAttempt({ at, took, status, failure, detail, answer, replayId }: DeliveryAttempt) {
  return {
    at: isoTime(at),
    tookMs: took ? Math.round(durationMs(took)) : 0,
    status: status || null,
    failure: failure || null,
    detail: detail || null,
    answer,
    replayId: replayId || null,
  };
}

type ShownAttempt = ReturnType<typeof toShownAttempt>;
type ShownDelivery = ReturnType<typeof toShown>;

/** The HTTP status of an attempt, or the kind of its failure; `-` without an attempt. */
export function outcomeOf(attempt: ShownAttempt | null): string {
  if (!attempt) return "-";
  return attempt.status === null ? (attempt.failure ?? "?") : String(attempt.status);
}

/** Why an attempt got no answer, or the beginning of the answer, in one line. */
export function wordsOf({ detail, answer }: ShownAttempt): string {
  return detail ?? answer.replaceAll(/\s+/g, " ").slice(0, 200);
}

export function subjectOf(shown: ShownDelivery): string {
  const { event, aboutEndpointId, documentId, documentType, version, sequence } = shown;
  if (aboutEndpointId) return `${event} of endpoint ${aboutEndpointId}`;
  return `${event} of ${documentId}, ${documentType} version ${version}, sequence ${sequence}`;
}

export function attemptText(attempt: ShownAttempt): string {
  const replay = attempt.replayId ? `  replay ${attempt.replayId}` : "";
  const words = wordsOf(attempt);
  return `${attempt.at}  ${outcomeOf(attempt)}  ${attempt.tookMs} ms${replay}${words ? `  ${words}` : ""}`;
}

/** The recomputed request of a delivery, as `--json` prints it. */
export function toShownRequest({ recomputed, url, headers, body }: DeliveryRequest) {
  const named = headers.map(({ name, value }) => [name, value] as const);
  return { recomputed, url, headers: Object.fromEntries(named), body: Buffer.from(body).toString() };
}

/** The request as HTTP, below a note that it is recomputed and not a record. */
export function requestLines({ url, headers, body }: ReturnType<typeof toShownRequest>): string[] {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ["request (computed again from what is there now)", `POST ${url}`, ...named, "", body];
}

/** A replay as `--json` prints it. */
export function toShownReplay(replay: Replay | undefined) {
  return {
    id: replay?.replayId ?? "",
    endpointId: replay?.endpointId ?? "",
    since: isoTime(replay?.since),
    until: isoTime(replay?.until),
    states: replay?.states ?? [],
    latestOnly: replay?.latestOnly ?? false,
    state: replay?.state ?? "",
    seen: Number(replay?.seen ?? 0),
    delivered: Number(replay?.delivered ?? 0),
    failed: Number(replay?.failed ?? 0),
    skipped: Number(replay?.skipped ?? 0),
    reached: isoTime(replay?.reached),
    createdAt: isoTime(replay?.createdAt),
    endedAt: isoTime(replay?.endedAt),
  };
}
