import { DomainError, type Violation } from "@vidimus/kit/errors";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import type { TenantCall } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { type Outcome, refusable } from "../parts/faults.ts";
import { toJson, type TypedPhrase } from "./phrase-form.ts";
import { readPhrase, type StoredPhrase } from "./stored-phrase.ts";

const fields = {
  "/phrase": "phrase",
  "/language": "language",
  "/commonMistakes": "mistakes",
  "/description": "description",
};

export const changedMeanwhile = "Somebody has changed or deleted this phrase since you opened it: nothing was saved.";

/** `updatedAt` is that of the phrase when its form was filled; "" for a new phrase. */
export function savePhrase(
  phrases: Pick<PhraseCalls, "upsertPhrase">,
  { tenant: { tenantId }, rpc }: TenantCall,
  typed: TypedPhrase,
  { id, updatedAt }: { readonly id: string; readonly updatedAt: string },
): Promise<Outcome<StoredPhrase>> {
  const isNew = updatedAt === "";
  const request = { tenantId, phraseJson: toJson(typed, id), expectedUpdatedAt: updatedAt, createOnly: isNew };
  const saved = phrases.upsertPhrase(request, rpc).then(({ phraseJson }) => readPhrase(phraseJson), inWords);
  return refusable(saved, fields, ({ kind }) =>
    kind === "conflict" ? { field: "", error: changedMeanwhile } : undefined,
  );
}

/** Rewords errors, because the service speaks of ids and JSON members. */
function inWords(error: unknown): never {
  const known = fromConnectError(error);
  if (!known) throw error;
  const { kind, message, violations } = known;
  if (kind === "already_exists") {
    const taken = "the dictionary has this phrase in this language already: search for it, and edit it there";
    throw new DomainError(kind, taken, { violations: [{ pointer: "/phrase", message: taken }] });
  }
  throw new DomainError(kind, message, { violations: violations.map(withNumber), cause: error });
}

function withNumber({ pointer, message }: Violation): Violation {
  const [, index] = /^\/commonMistakes\/(\d+)$/.exec(pointer) ?? [];
  return { pointer, message: index === undefined ? message : `mistake ${Number(index) + 1} ${message}` };
}
