import { ApiError, apiError, readEnvelope, reasonOf } from "../../gateway/public-api.ts";
import { type Answer, type Outcome, sendPatiently } from "../../gateway/send-patiently.ts";
import { sleepAloud } from "../../gateway/sleep-aloud.ts";
import type { Session } from "../../session.ts";
import { isRecord } from "../../settings/json-file.ts";

/** A body to import. */
export interface ImportBody {
  readonly type: "text/csv" | "application/json";
  readonly text: string;
}

/** A row that the platform found wrong: its line in a CSV, or its position in an array. */
export interface RowFault {
  readonly line?: number;
  readonly index?: number;
  readonly message: string;
}

/** An import that was refused for its rows; nothing of it was written. */
export class ImportRefused extends ApiError {
  readonly faults: readonly RowFault[];

  constructor(message: string, faults: readonly RowFault[]) {
    super(message, false);
    this.faults = faults;
  }
}

/** The dictionary of one tenant over public HTTP, as one key sees it. Everything in it is safe to repeat, and is. */
export interface PhrasesApi {
  /** @throws ApiError */
  put(phrase: object): Promise<Readonly<Record<string, unknown>>>;
  /** @throws ApiError also when there is no such phrase */
  delete(id: string): Promise<void>;
  /** @returns rows processed. @throws ImportRefused, ApiError */
  import(body: ImportBody): Promise<number>;
  /** Opens an export. Reading it to its end without an error means that it is whole. @throws ApiError */
  export(query: { format: "csv" | "json"; language?: string }): Promise<AsyncIterable<Uint8Array>>;
}

/** Milliseconds one attempt may take; an import of 50,000 rows takes seconds. */
const attemptTimeoutMs = 70_000;

/** Opens the dictionary with the key and gateway of the session. */
export function openPhrasesApi(session: Session): PhrasesApi {
  const base = `${session.settings.get("gateway")}/v1/phrases`;
  const authorization = `Bearer ${session.settings.get("key")}`;
  const request = (method: string, url: string, body?: ImportBody) =>
    send(session, url, () => exchange(method, url, authorization, body));
  return {
    async put(phrase) {
      const { answer } = await request("PUT", base, { type: "application/json", text: JSON.stringify(phrase) });
      const kept = dataOf(answer, base)["phrase"];
      return isRecord(kept) ? kept : {};
    },
    async delete(id) {
      const url = `${base}/${encodeURIComponent(id)}`;
      const { answer, lost } = await request("DELETE", url);
      // An earlier attempt, whose answer was lost, has deleted it.
      if (answer.status !== 404 || !lost) dataOf(answer, url);
    },
    async import(body) {
      const url = `${base}/import`;
      const { answer } = await request("POST", url, body);
      const faults = answer.status === 400 ? faultsOf(answer) : [];
      if (faults.length > 0) throw new ImportRefused(readEnvelope(answer.body)?.message ?? "", faults);
      return Number(dataOf(answer, url)["imported"]);
    },
    async export(query) {
      const url = `${base}?${new URLSearchParams(query).toString()}`;
      let opened: Response | undefined;
      const { answer } = await send(session, url, async () => {
        opened = await fetch(url, { headers: { authorization }, redirect: "error" });
        return { status: opened.status, headers: opened.headers, body: opened.ok ? "" : await opened.text() };
      });
      if (!opened?.ok || !opened.body) throw apiError(answer, readEnvelope(answer.body), url);
      return opened.body;
    },
  };
}

async function send({ maxWaitMs, world }: Session, url: string, attempt: () => Promise<Answer>): Promise<Outcome> {
  const sleep = sleepAloud(world);
  return sendPatiently(attempt, { repeatable: true, maxWaitMs, sleep }).catch((error: unknown) => {
    throw new ApiError(`cannot reach ${url}: ${reasonOf(error)}`, true, error);
  });
}

async function exchange(method: string, url: string, authorization: string, body?: ImportBody): Promise<Answer> {
  const signal = AbortSignal.timeout(attemptTimeoutMs);
  const headers = { authorization, ...(body ? { "content-type": body.type } : {}) };
  // A redirect would carry the key to whoever is named there.
  const init = { method, headers, redirect: "error", signal } as const;
  const response = await fetch(url, body ? { ...init, body: body.text } : init);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function dataOf(answer: Answer, url: string): Readonly<Record<string, unknown>> {
  const body: unknown = answer.status === 200 ? JSON.parse(answer.body) : undefined;
  if (isRecord(body) && isRecord(body["data"])) return body["data"];
  throw apiError(answer, readEnvelope(answer.body), url);
}

function faultsOf({ body }: Answer): RowFault[] {
  const value: unknown = JSON.parse(body);
  const error = isRecord(value) ? value["error"] : undefined;
  const details: unknown = isRecord(error) ? error["details"] : undefined;
  return Array.isArray(details) ? details.filter(isRecord).map(toFault) : [];
}

function toFault({ line, index, pointer, message }: Readonly<Record<string, unknown>>): RowFault {
  const field = String(pointer).split("/").slice(2).join("/");
  const words = `${field} ${String(message)}`.trim();
  if (typeof line === "number") return { line, message: words };
  return typeof index === "number" ? { index, message: words } : { message: words };
}
