import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError, type Violation } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { parseJson } from "../domain/parse-json.ts";
import { parsePhrase, violationText } from "../domain/parse-phrase.ts";
import type { PhraseDraft } from "../domain/phrase.ts";
import type { UpsertPlan } from "../domain/plan-upserts.ts";
import { jsonText } from "../domain/text/phrase-text.ts";
import { upsertWithRetry } from "../domain/write-with-retry.ts";

export interface UpsertPhraseDeps {
  phrases: Pick<Dictionary, "find" | "change">;
  now: () => Date;
  mintId: () => string;
}

/** Implements `UpsertPhrase`. */
export function upsertPhrase(deps: UpsertPhraseDeps): MethodImpl<typeof PhraseService.method.upsertPhrase> {
  return async ({ tenantId, phraseJson }) => {
    requireTenantId(tenantId);
    const draft = fromJson(phraseJson);
    const stamps = { now: deps.now(), mintId: deps.mintId };
    const { phrases, conflicts } = await deps.phrases.change(tenantId, (write) =>
      upsertWithRetry(deps.phrases, tenantId, [draft], stamps, write),
    );
    checkConflict(conflicts);
    return { phraseJson: Buffer.from(phrases.map(jsonText.write).join("")) };
  };
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
