import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { DoorRoutes } from "@vidimus/kit/service/open-doors";
import { meshRoute, route, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { batchDeletePhrases, type BatchDeletePhrasesDeps } from "./batch-delete-phrases.ts";
import { deleteLanguage, type DeleteLanguageDeps } from "./delete-language.ts";
import { deletePhrase, type DeletePhraseDeps } from "./delete-phrase.ts";
import { getDictionaryRevision, type GetDictionaryRevisionDeps } from "./get-dictionary-revision.ts";
import { getPhrase, type GetPhraseDeps } from "./get-phrase.ts";
import { importPhrases, type ImportPhrasesDeps } from "./import-phrases.ts";
import { listPhrases, type ListPhrasesDeps } from "./list-phrases.ts";
import { upsertPhrase, type UpsertPhraseDeps } from "./upsert-phrase.ts";

type PhraseRoutesDeps = BatchDeletePhrasesDeps &
  DeleteLanguageDeps &
  DeletePhraseDeps &
  GetDictionaryRevisionDeps &
  GetPhraseDeps &
  ImportPhrasesDeps &
  ListPhrasesDeps &
  UpsertPhraseDeps;

export function phraseRoutes(deps: PhraseRoutesDeps): DoorRoutes {
  const methods = route(PhraseService, {
    listPhrases: listPhrases(deps),
    getPhrase: getPhrase(deps),
    upsertPhrase: upsertPhrase(deps),
    importPhrases: importPhrases(deps),
    deletePhrase: deletePhrase(deps),
    batchDeletePhrases: batchDeletePhrases(deps),
    deleteLanguage: deleteLanguage(deps),
    getDictionaryRevision: getDictionaryRevision(deps),
  });
  const mesh = meshRoute(methods, {
    listPhrases: ["gateway"],
    getPhrase: [],
    upsertPhrase: ["gateway"],
    importPhrases: ["gateway"],
    deletePhrase: ["gateway"],
    batchDeletePhrases: [],
    deleteLanguage: [],
    getDictionaryRevision: ["gateway"],
  });
  const teams = teamsRoute(methods, {
    listPhrases: "read",
    getPhrase: "read",
    upsertPhrase: "write",
    importPhrases: "write",
    deletePhrase: "write",
    batchDeletePhrases: "write",
    deleteLanguage: "write",
    getDictionaryRevision: "read",
  });
  return { teams: [teams], mesh: [mesh] };
}
