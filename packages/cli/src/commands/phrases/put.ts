import { Command } from "commander";
import { openPhrasesApi } from "../../public-api/phrases-api.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

interface PutOptions {
  language: string;
  id?: string;
  description?: string;
  caseSensitive?: boolean;
  forbidden?: boolean;
  mistake: string[];
}

export function putPhrase(world: World): Command {
  const collect = (value: string, before: string[]) => [...before, value];
  return new Command("put")
    .description("create or replace one phrase; options that are left out return to their defaults")
    .argument("<phrase>", "the word or phrase")
    .requiredOption("--language <tag>", "its language, a BCP 47 tag")
    .option("--id <uuid>", "the phrase to replace, if its text is to change")
    .option("--description <text>", "a remark")
    .option("--case-sensitive", "match it only in this case")
    .option("--forbidden", "flag it as forbidden instead of accepting it")
    .option("--mistake <text>", "a misspelling that is corrected to it; may be repeated", collect, [])
    .action(async (phrase: string, { mistake: commonMistakes, ...options }: PutOptions, command: Command) => {
      const session = await openSession(world, command);
      const { language, id, description, caseSensitive, forbidden } = options;
      const kept = await openPhrasesApi(session).put({
        ...(id ? { id } : {}),
        ...(description ? { description } : {}),
        language,
        phrase,
        commonMistakes,
        caseSensitive: caseSensitive ?? false,
        forbidden: forbidden ?? false,
      });
      session.print(kept, `${String(kept["id"])}  ${String(kept["language"])}  ${String(kept["phrase"])}`);
    });
}
