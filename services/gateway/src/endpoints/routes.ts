import { getDocuments } from "./documents/get-documents.ts";
import { getKeys } from "./keys/get-keys.ts";
import { deletePhrase } from "./phrases/delete-phrase.ts";
import { getPhrases } from "./phrases/get-phrases.ts";
import { postPhrasesImport } from "./phrases/post-phrases-import.ts";
import { putPhrases } from "./phrases/put-phrases.ts";
import { postDocuments } from "./documents/post-documents.ts";
import { getBySlug } from "./publisher/get-by-slug.ts";
import { getChanges } from "./publisher/get-changes.ts";
import { getCollection } from "./publisher/get-collection.ts";
import { getDocument } from "./publisher/get-document.ts";
import { getSite } from "./publisher/get-site.ts";
import { getVersion } from "./publisher/get-version.ts";
import { getVersions } from "./publisher/get-versions.ts";
import { deleteEndpoint } from "./webhooks/delete-endpoint.ts";
import { getDeliveries } from "./webhooks/get-deliveries.ts";
import { getDelivery } from "./webhooks/get-delivery.ts";
import { getReplay } from "./webhooks/get-replay.ts";
import { getReplays } from "./webhooks/get-replays.ts";
import { postCancel } from "./webhooks/post-cancel.ts";
import { postRedeliver } from "./webhooks/post-redeliver.ts";
import { postReplays } from "./webhooks/post-replays.ts";
import { getEndpoint } from "./webhooks/get-endpoint.ts";
import { getEndpoints } from "./webhooks/get-endpoints.ts";
import { patchEndpoint } from "./webhooks/patch-endpoint.ts";
import { postEndpoints } from "./webhooks/post-endpoints.ts";
import { postRotate } from "./webhooks/post-rotate.ts";
import { postSwitches } from "./webhooks/post-switches.ts";
import { postTest } from "./webhooks/post-test.ts";
import type { Route } from "../http/route.ts";

/**
 * Every endpoint of the public API.
 *
 * To add one: write `endpoints/<resource>/<method>-<path>.ts` with `defineRoute({method, url,
 * scope, query, params, body, doc, handler})`, name it here, and supply what its handler needs in
 * `gateway.ts`. The gateway adds the rest: limits, authentication, the scope's 403, the charge to
 * the write budget unless it is a GET, the answers to HEAD and OPTIONS, the 405 of other methods,
 * the 415 and 413 of its body rule, INVALID_QUERY for its URL, the envelope for errors of its
 * handler, and its part of the API description.
 */
export const routes = [
  postDocuments,
  getDocuments,
  getKeys,
  getPhrases,
  putPhrases,
  postPhrasesImport,
  deletePhrase,
  getDocument,
  ...getCollection,
  ...getBySlug,
  getSite,
  getChanges,
  getVersions,
  getVersion,
  postEndpoints,
  getEndpoints,
  getEndpoint,
  patchEndpoint,
  deleteEndpoint,
  ...postSwitches,
  postRotate,
  postTest,
  getDeliveries,
  getDelivery,
  postRedeliver,
  postReplays,
  getReplays,
  getReplay,
  postCancel,
] satisfies readonly Route<never>[];

type DepsOf<R> = R extends { handler: (deps: infer Deps) => unknown } ? (deps: Deps) => void : never;

/** The dependencies of all handlers together. */
export type HttpDeps = DepsOf<(typeof routes)[number]> extends (deps: infer All) => void ? All : never;
