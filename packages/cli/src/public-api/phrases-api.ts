import type { Session } from "../session.ts";
import { isJsonObject } from "../json-object.ts";
import { ApiError, apiError, readBody, readEnvelope } from "./answer.ts";
import { type ApiRequest, openPublicApi } from "./public-api.ts";
import type { Answer } from "./send-with-retries.ts";

export interface ImportBody {
  readonly type: "text/csv" | "application/json";
  readonly text: string;
}

/** An invalid row: its line in a CSV, or its index in an array. */
interface RowFault {
  readonly line?: number;
  readonly index?: number;
  readonly message: string;
}

/** An import that was refused for invalid rows; none of its rows was written. */
export class ImportRefused extends ApiError {
  readonly faults: readonly RowFault[];

  constructor(message: string, faults: readonly RowFault[]) {
    super(message, false);
    this.faults = faults;
  }
}

/** The answer of an import: the number of its rows, and of its phrases by outcome. */
export interface ImportAnswer {
  readonly imported: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

/**
 * The dictionary of one tenant over public HTTP. All requests are idempotent, so they are repeated
 * after lost answers, too.
 */
interface PhrasesApi {
  /** @throws ApiError when the request is refused or the public API cannot be reached */
  put(phrase: object): Promise<Readonly<Record<string, unknown>>>;
  /** @throws ApiError when there is no such phrase, or the request is refused or has no answer */
  delete(id: string): Promise<void>;
  /** @throws ImportRefused for invalid rows, ApiError for any other failure */
  import(body: ImportBody): Promise<ImportAnswer>;
  /**
   * Opens an export. It is complete if it can be read to its end without an error.
   *
   * @throws ApiError when the export is refused or the public API cannot be reached
   */
  export(query: { format: "csv" | "json"; language?: string }): Promise<AsyncIterable<Uint8Array>>;
}

/** Longer than the 50 s that the gateway waits for an import whose body has arrived. */
const attemptTimeoutMs = 70_000;

/** The dictionary of the tenant to which the session's key belongs, at the session's gateway. */
export function openPhrasesApi(session: Session): PhrasesApi {
  const api = openPublicApi(session);
  const base = `${api.base}/v1/phrases`;
  const send = (method: string, url: string, body?: ApiRequest["body"]) =>
    api.send({ method, url, ...(body ? { body } : {}), repeatable: true, attemptTimeoutMs });
  return {
    async put(phrase) {
      const { answer } = await send("PUT", base, { type: "application/json", content: JSON.stringify(phrase) });
      const stored = dataOf(answer, base)["phrase"];
      return isJsonObject(stored) ? stored : {};
    },
    async delete(id) {
      const url = `${base}/${encodeURIComponent(id)}`;
      const { answer, lost } = await send("DELETE", url);
      // After a lost answer, 404 is no error: the attempt whose answer was lost may have deleted
      // the phrase.
      if (answer.status !== 404 || !lost) dataOf(answer, url);
    },
    async import({ type, text }) {
      const url = `${base}/import`;
      const { answer } = await send("POST", url, { type, content: text });
      const faults = answer.status === 400 ? faultsOf(answer) : [];
      if (faults.length > 0) throw new ImportRefused(readEnvelope(answer.body)?.message ?? "", faults);
      const { imported, created, changed, unchanged } = dataOf(answer, url);
      const counts = { created: Number(created), changed: Number(changed), unchanged: Number(unchanged) };
      return { imported: Number(imported), ...counts };
    },
    async export(query) {
      const url = `${base}?${new URLSearchParams(query).toString()}`;
      const { answer, body } = await api.openStream(url);
      if (!body) throw apiError(answer, url);
      return body;
    },
  };
}

function dataOf(answer: Answer, url: string): Readonly<Record<string, unknown>> {
  const data = answer.status === 200 ? readBody(answer.body)?.["data"] : undefined;
  if (isJsonObject(data)) return data;
  throw apiError(answer, url);
}

function faultsOf({ body }: Answer): RowFault[] {
  const error = readBody(body)?.["error"];
  const details: unknown = isJsonObject(error) ? error["details"] : undefined;
  return Array.isArray(details) ? details.filter(isJsonObject).map(toFault) : [];
}

function toFault({ line, index, pointer, message }: Readonly<Record<string, unknown>>): RowFault {
  const field = String(pointer).split("/").slice(2).join("/");
  const text = `${field} ${String(message)}`.trim();
  if (typeof line === "number") return { line, message: text };
  return typeof index === "number" ? { index, message: text } : { message: text };
}
