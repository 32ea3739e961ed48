import { expect } from "vitest";

/** A phrase as the public API shows it. */
export interface PhraseJson {
  id: string;
  language: string;
  phrase: string;
  caseSensitive: boolean;
  forbidden: boolean;
  commonMistakes: string[];
  description: string;
  createdAt: string;
  updatedAt: string;
}

/** First line of every CSV export. */
export const phraseColumns =
  "id,language,phrase,caseSensitive,forbidden,commonMistakes,description,createdAt,updatedAt";

/** The phrases of a JSON answer, which must be a success. */
export async function phrasesOf(response: Promise<Response>): Promise<PhraseJson[]> {
  const answer = await response;
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { phrases: PhraseJson[] } }).data.phrases;
}

/** Calls of `/v1/phrases` with a key; only `put` requires success. */
export function openDictionary(gateway: string, apiKey: string) {
  const url = `${gateway}/v1/phrases`;
  const authorization = `Bearer ${apiKey}`;
  const send = (method: string, path: string, body?: string | Uint8Array<ArrayBuffer>, type = "application/json") => {
    const headers = { authorization, ...(body === undefined ? {} : { "content-type": type }) };
    return fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
  };
  return {
    send,
    get: (query = "", headers: Record<string, string> = {}, method = "GET") =>
      fetch(url + query, { method, headers: { authorization, ...headers } }),
    put: async (phrase: object): Promise<PhraseJson> => {
      const response = await send("PUT", "", JSON.stringify(phrase));
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return (JSON.parse(text) as { data: { phrase: PhraseJson } }).data.phrase;
    },
    import: (body: string | Uint8Array<ArrayBuffer>, type = "text/csv") => send("POST", "/import", body, type),
    delete: (id: string) => send("DELETE", `/${id}`),
  };
}
