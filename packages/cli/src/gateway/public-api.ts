import { CliError } from "../failure.ts";
import { withPlaces } from "../rpc/rpc-failure.ts";
import type { Session } from "../session.ts";
import { isRecord } from "../settings/json-file.ts";
import { type Answer, type Outcome, sendPatiently } from "./send-patiently.ts";
import { sleepAloud } from "./sleep-aloud.ts";

/** A request that the public API did not carry out. */
export class ApiError extends CliError {
  /** No other request would fare better: the key is refused, or nobody answers. */
  readonly hopeless: boolean;

  constructor(message: string, hopeless: boolean, cause?: unknown) {
    super(message, { cause });
    this.hopeless = hopeless;
  }
}

/** What became of a document that was pushed. */
export type Push =
  | { readonly outcome: "created"; readonly id: string }
  /** The tenant has a document of this id. `own` when an earlier attempt of the same push may have put it there. */
  | { readonly outcome: "existing"; readonly own: boolean; readonly message: string };

/** The public API, as one key sees it. */
export interface PublicApi {
  /**
   * Pushes one document, given as JSON.
   *
   * @param repeatable the document brings its own id, so that a repeat is harmless
   * @throws ApiError
   */
  pushDocument(json: string | Uint8Array<ArrayBuffer>, repeatable: boolean): Promise<Push>;
}

/** Milliseconds one attempt may take. */
const attemptTimeoutMs = 30_000;

/** Opens the public API with the key and gateway of the session. */
export function openPublicApi({ settings, maxWaitMs, world }: Session): PublicApi {
  const url = `${settings.get("gateway")}/v1/documents`;
  const headers = { authorization: `Bearer ${settings.get("key")}`, "content-type": "application/json" };
  const sleep = sleepAloud(world);
  return {
    async pushDocument(body, repeatable) {
      const send = () => post(url, { headers, body });
      const outcome = await sendPatiently(send, { repeatable, maxWaitMs, sleep }).catch((error: unknown) => {
        throw new ApiError(`cannot reach ${url}: ${reasonOf(error)}`, true, error);
      });
      return readPush(outcome, url);
    },
  };
}

async function post(url: string, init: { headers: Record<string, string>; body: BodyInit }): Promise<Answer> {
  const signal = AbortSignal.timeout(attemptTimeoutMs);
  // A redirect would carry the key to whoever is named there.
  const response = await fetch(url, { method: "POST", redirect: "error", signal, ...init });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function readPush({ answer, lost }: Outcome, url: string): Push {
  const envelope = readEnvelope(answer.body);
  if (answer.status === 201 && typeof envelope?.id === "string") return { outcome: "created", id: envelope.id };
  if (answer.status === 409 && envelope?.message) return { outcome: "existing", own: lost, message: envelope.message };
  throw apiError(answer, envelope, url);
}

/** An answer that is no success, in the platform's own words where it gave some. */
export function apiError({ status, headers }: Answer, envelope: Envelope | undefined, url: string): ApiError {
  const later = status === 429 || status === 503;
  const hopeless = later || status === 401 || status === 403;
  if (!envelope?.code) return new ApiError(`${url} answered ${status}, and not in the words of Vidimus`, hopeless);
  const wait = later
    ? `; asked to wait ${headers.get("retry-after") ?? "some"} s, which --max-wait does not allow`
    : "";
  const message = `${envelope.code}: ${withPlaces(`${envelope.message}${wait}`, envelope.places)}`;
  return new ApiError(message, hopeless);
}

/** What the answers of the public API have in common. */
export interface Envelope {
  id?: unknown;
  code?: string;
  message: string;
  places: { pointer: string; message: string }[];
}

/** Reads an answer; undefined when it is not in the words of Vidimus. */
export function readEnvelope(body: string): Envelope | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { data, error } = value;
  if (isRecord(data)) return { id: data["id"], message: "", places: [] };
  if (!isRecord(error) || typeof error["code"] !== "string") return undefined;
  const { code, message, details } = error;
  return { code, message: typeof message === "string" ? message : "", places: readPlaces(details) };
}

function readPlaces(details: unknown): Envelope["places"] {
  if (!Array.isArray(details)) return [];
  return details.filter(isRecord).flatMap(({ pointer, message }) => {
    return typeof pointer === "string" && typeof message === "string" ? [{ pointer, message }] : [];
  });
}

/** Why a request found nobody, in words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return (cause instanceof Error && cause.message) || code || error.message;
}
