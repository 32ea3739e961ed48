import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import { deletePhrase, type DeletePhraseDeps } from "./delete-phrase.ts";
import { getDictionaryRevision, type GetDictionaryRevisionDeps } from "./get-dictionary-revision.ts";
import { importPhrases, type ImportPhrasesDeps } from "./import-phrases.ts";
import { listPhrases, type ListPhrasesDeps } from "./list-phrases.ts";
import { upsertPhrase, type UpsertPhraseDeps } from "./upsert-phrase.ts";

type PhraseRoutesDeps = DeletePhraseDeps &
  GetDictionaryRevisionDeps &
  ImportPhrasesDeps &
  ListPhrasesDeps &
  UpsertPhraseDeps;

/** The service that phrases serves. */
export function phraseRoutes(deps: PhraseRoutesDeps): RpcRoute[] {
  return [
    route(PhraseService, {
      listPhrases: listPhrases(deps),
      upsertPhrase: upsertPhrase(deps),
      importPhrases: importPhrases(deps),
      deletePhrase: deletePhrase(deps),
      getDictionaryRevision: getDictionaryRevision(deps),
    }),
  ];
}
