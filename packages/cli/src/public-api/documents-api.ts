import type { Session } from "../session.ts";
import { apiError, readEnvelope } from "./answer.ts";
import { openPublicApi } from "./public-api.ts";
import type { Outcome } from "./send-with-retries.ts";

type Push =
  | { readonly outcome: "created"; readonly id: string }
  /**
   * The tenant has a document with this id; `mayBeOurs` when an earlier attempt of this push may
   * have created it.
   */
  | { readonly outcome: "existing"; readonly mayBeOurs: boolean; readonly message: string };

export interface DocumentsApi {
  /**
   * Pushes one document, given as JSON.
   *
   * @param repeatable whether the document has an id, so that a repetition creates no second one
   * @throws ApiError when the push was refused for another reason than a taken id, or the public
   * API cannot be reached
   */
  pushDocument(json: string | Uint8Array<ArrayBuffer>, repeatable: boolean): Promise<Push>;
}

const attemptTimeoutMs = 30_000;

/** The documents of the tenant to which the session's key belongs, at the session's gateway. */
export function openDocumentsApi(session: Session): DocumentsApi {
  const api = openPublicApi(session);
  const url = `${api.base}/v1/documents`;
  return {
    async pushDocument(content, repeatable) {
      const body = { type: "application/json", content };
      return readPush(await api.send({ method: "POST", url, body, repeatable, attemptTimeoutMs }), url);
    },
  };
}

function readPush({ answer, lost }: Outcome, url: string): Push {
  const { id, message } = readEnvelope(answer.body) ?? {};
  if (answer.status === 201 && typeof id === "string") return { outcome: "created", id };
  if (answer.status === 409 && message) return { outcome: "existing", mayBeOurs: lost, message };
  throw apiError(answer, url);
}
