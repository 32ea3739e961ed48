import { Command } from "commander";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";
import { openPhrasesApi } from "./phrases-api.ts";

interface PutOptions {
  language: string;
  id?: string;
  description?: string;
  caseSensitive?: boolean;
  forbidden?: boolean;
  mistake: string[];
}

/** `phrases put PHRASE` */
export function putPhrase(world: World): Command {
  const collect = (value: string, before: string[]) => [...before, value];
  return new Command("put")
    .description("create or replace one phrase; what is left out goes back to its default")
    .argument("<phrase>", "the word or phrase")
    .requiredOption("--language <tag>", "its language, a BCP 47 tag")
    .option("--id <uuid>", "the phrase to replace, if its text is to change")
    .option("--description <text>", "a remark")
    .option("--case-sensitive", "it counts in this case only")
    .option("--forbidden", "flag it instead of accepting it")
    .option("--mistake <text>", "what to correct to it; may be given often", collect, [])
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
