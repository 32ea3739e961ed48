import { randomUUID } from "node:crypto";

interface TryIt {
  readonly api: URL;
  readonly key: string;
  readonly scopes: readonly string[];
}

/**
 * A command that works unchanged with a new key: a read if the key may read, else a write of a
 * sample. Undefined for a key that may only change endpoints, because the console cannot guess a
 * receiver's URL.
 */
export function tryIt({ api, key, scopes }: TryIt): string | undefined {
  const scope = Object.keys(samples).find((each) => scopes.includes(each));
  return scope === undefined ? undefined : samples[scope]?.(api.origin, `-H 'Authorization: Bearer ${key}'`);
}

/** From a scope to a command that needs only this scope, the most harmless command first. */
const samples: Readonly<Record<string, (api: string, authorization: string) => string>> = {
  "publisher:read": (api, authorization) => `curl -s '${api}/v1/publisher/articles?limit=5' \\\n  ${authorization}`,
  "phrases:read": (api, authorization) => `curl -s '${api}/v1/phrases?language=en' \\\n  ${authorization}`,
  "webhooks:read": (api, authorization) => `curl -s ${api}/v1/webhooks/endpoints \\\n  ${authorization}`,
  "documents:create": (api, authorization) =>
    `curl -s ${api}/v1/documents \\\n  ${authorization} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(newDraft())}'`,
  "phrases:write": (api, authorization) =>
    `curl -s -X PUT ${api}/v1/phrases \\\n  ${authorization} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(phrase)}'`,
};

/**
 * Makes the document of one command. A second run of the same command reports it as existing
 * instead of making another.
 */
const newDraft = () => ({
  id: randomUUID(),
  type: "core/newswire",
  title: "Hello from a new key",
  meta: { source: "try-it" },
  content: { blocks: [{ type: "core/text", data: { html: "A draft: readers do not see it." } }] },
});
const phrase = { language: "en", phrase: "Vidimus", description: "Hello from a new key" };
