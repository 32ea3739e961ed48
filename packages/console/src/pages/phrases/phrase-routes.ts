import type { TenantRoute } from "../../http/route.ts";
import type { Services } from "../../rpc/called-methods.ts";
import { getDeletePhrase, postDeletePhrase } from "./delete-phrase.ts";
import { getPhrase, postPhrase } from "./edit-phrase.ts";
import { getPhrasesFile } from "./export.ts";
import { getImport, postImportFile, postImportText } from "./import.ts";
import { getPhrases } from "./list.ts";
import { getNewPhrase, postNewPhrase } from "./new-phrase.ts";

export function phraseRoutes(deps: Pick<Services, "phrases">): TenantRoute[] {
  return [
    getPhrases(deps),
    getNewPhrase(),
    postNewPhrase(deps),
    getImport(),
    postImportFile(deps),
    postImportText(deps),
    getPhrasesFile(deps),
    getPhrase(deps),
    postPhrase(deps),
    getDeletePhrase(deps),
    postDeletePhrase(deps),
  ];
}
