import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { DoorRoutes } from "@vidimus/kit/rpc/open-doors";
import { meshRoute, route, teamsRoute } from "@vidimus/kit/rpc/route";
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

/** The service that phrases serves, at both doors. */
export function phraseRoutes(deps: PhraseRoutesDeps): DoorRoutes {
  const methods = route(PhraseService, {
    listPhrases: listPhrases(deps),
    upsertPhrase: upsertPhrase(deps),
    importPhrases: importPhrases(deps),
    deletePhrase: deletePhrase(deps),
    getDictionaryRevision: getDictionaryRevision(deps),
  });
  const mesh = meshRoute(methods, {
    listPhrases: ["gateway"],
    upsertPhrase: ["gateway"],
    importPhrases: ["gateway"],
    deletePhrase: ["gateway"],
    getDictionaryRevision: ["gateway"],
  });
  const teams = teamsRoute(methods, {
    listPhrases: "read",
    upsertPhrase: "write",
    importPhrases: "write",
    deletePhrase: "write",
    getDictionaryRevision: "read",
  });
  return { teams: [teams], mesh: [mesh] };
}
