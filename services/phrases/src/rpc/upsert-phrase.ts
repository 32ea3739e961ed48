import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService, UpsertPhraseRequest } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError, type Violation } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary, Write } from "../domain/dictionary.ts";
import { parseJson } from "../domain/parse-json.ts";
import { parsePhrase, violationText } from "../domain/parse-phrase.ts";
import type { PhraseDraft } from "../domain/phrase.ts";
import type { Stamps, UpsertPlan } from "../domain/plan-upserts.ts";
import { jsonText } from "../domain/text/phrase-text.ts";
import { createUnderOwnId, replaceUnchanged, upsertWithRetry } from "../domain/write-with-retry.ts";
import { invalid } from "./requests.ts";

export interface UpsertPhraseDeps {
  phrases: Pick<Dictionary, "find" | "change">;
  now: () => Date;
  mintId: () => string;
}

export function upsertPhrase(deps: UpsertPhraseDeps): MethodImpl<typeof PhraseService.method.upsertPhrase> {
  return async (request) => {
    const { tenantId } = request;
    requireTenantId(tenantId);
    const draft = fromJson(request.phraseJson);
    const upsert = upsertOf(request, draft);
    const stamps = { now: deps.now(), mintId: deps.mintId };
    const change = (write: Write) => upsert(deps.phrases, tenantId, stamps, write);
    const { phrases, conflicts } = await deps.phrases.change(tenantId, change);
    checkConflict(conflicts);
    return { phraseJson: Buffer.from(phrases.map(jsonText.write).join("")) };
  };
}

type Upsert = (
  dictionary: Pick<Dictionary, "find">,
  tenantId: string,
  stamps: Stamps,
  write: Write,
) => Promise<UpsertPlan>;

/**
 * Chooses how a draft is written: over any phrase; with `expected_updated_at` only over the phrase
 * as the caller read it; with `create_only` never over a phrase with another id.
 */
function upsertOf({ expectedUpdatedAt, createOnly }: UpsertPhraseRequest, draft: PhraseDraft): Upsert {
  if (expectedUpdatedAt !== "") {
    const updatedAt = readExpected(expectedUpdatedAt, draft);
    if (createOnly) throw invalid("/create_only", "create_only and expected_updated_at exclude each other");
    return (dictionary, tenantId, ...rest) => replaceUnchanged(dictionary, tenantId, draft, updatedAt, ...rest);
  }
  if (!createOnly) return (dictionary, tenantId, ...rest) => upsertWithRetry(dictionary, tenantId, [draft], ...rest);
  if (draft.id === undefined) throw invalid("/create_only", "create_only needs an id");
  return (dictionary, tenantId, ...rest) => createUnderOwnId(dictionary, tenantId, draft, ...rest);
}

function readExpected(text: string, { id }: PhraseDraft): Date {
  const updatedAt = new Date(text);
  if (!Number.isNaN(updatedAt.getTime()) && updatedAt.toISOString() === text && id !== undefined) return updatedAt;
  throw invalid("/expected_updated_at", "expected_updated_at must be the updatedAt of the phrase whose id is given");
}

function checkConflict([conflict]: UpsertPlan["conflicts"]): void {
  if (!conflict) return;
  const { message } = conflict;
  throw new DomainError("already_exists", `id ${message}`, { violations: [{ pointer: "/id", message }] });
}

function fromJson(json: Uint8Array): PhraseDraft {
  const violations: Violation[] = [];
  const draft = parsePhrase(parseJson(json), violations);
  if (draft) return draft;
  throw new DomainError("invalid", violations.map(violationText).slice(0, 3).join("; "), {
    violations: violations.slice(0, 20),
  });
}
