import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { openPhrasesApi } from "../../public-api/phrases-api.ts";
import { openSession, type Session } from "../../session.ts";
import type { World } from "../../world.ts";

interface DeleteOptions {
  language?: string;
  yes?: boolean;
}

/** Enough for the 50,000 phrases that a call may delete. */
const timeoutMs = 60_000;

export function deletePhrase(world: World): Command {
  return new Command("delete")
    .description("delete one phrase, or all of a language")
    .argument("[id]", "id of the phrase")
    .option("--language <tag>", "all phrases of exactly this language; without --yes say only how many")
    .option("--yes", "with --language: do it")
    .action(async (id: string | undefined, { language, yes = false }: DeleteOptions, command: Command) => {
      if ((id === undefined) === (language === undefined)) throw new CliError("pass an id, or --language");
      if (yes && language === undefined) throw new CliError("--yes is for --language");
      const session = await openSession(world, command);
      if (language !== undefined) return deleteLanguage(session, language, !yes);
      if (id === undefined) return;
      await openPhrasesApi(session).delete(id);
      session.print({ id }, `${id} is deleted`);
    });
}

async function deleteLanguage(session: Session, language: string, dryRun: boolean): Promise<void> {
  const { PhraseService } = await import("@vidimus/contracts/vidimus/phrases/v1/phrase_service");
  const { openService } = await import("../../rpc/open-service.ts");
  const tenantId = session.settings.get("tenant");
  using phrases = await openService(session, "phrases", PhraseService);
  const request = { tenantId, language, dryRun };
  let deleted = 0;
  for (let hasMore = true; hasMore;) {
    const answer = await phrases.call((client, options) => client.deleteLanguage(request, { ...options, timeoutMs }));
    deleted += answer.deleted;
    ({ hasMore } = answer);
  }
  const text = dryRun ? `${deleted} phrases would be deleted: --yes does it` : `${deleted} phrases are deleted`;
  session.print({ language, deleted, dryRun }, text);
}
