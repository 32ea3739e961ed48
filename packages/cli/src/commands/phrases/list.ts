import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Command } from "commander";
import { wholeNumber } from "../../options/whole-number.ts";
import { openService } from "../../rpc/open-service.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

interface ListOptions {
  language?: string;
  contains?: string;
  limit: number;
}

/** The members of a phrase that the table shows; `--json` prints all that the service answers. */
interface ShownPhrase {
  readonly id: string;
  readonly language: string;
  readonly phrase: string;
  readonly forbidden: boolean;
  readonly commonMistakes: readonly string[];
}

export function listPhrases(world: World): Command {
  return new Command("list")
    .description("list phrases by language and text, or search in them")
    .option("--language <tag>", "only phrases of exactly this language")
    .option("--contains <text>", "only phrases with this in their text, in any case")
    .option("--limit <count>", "most rows", wholeNumber(1, 100_000), 50)
    .action(async ({ language = "", contains = "", limit }: ListOptions, command: Command) => {
      const session = await openSession(world, command);
      const query = { tenantId: session.settings.get("tenant"), language, contains, format: PhraseFormat.JSON };
      using service = await openService(session, "phrases", PhraseService);
      const { rows, more } = await walkPages(limit, (page) =>
        service.read(async (client, options) => {
          const rows: ShownPhrase[] = [];
          let nextPageToken = "";
          for await (const message of client.listPhrases({ ...query, ...page }, options)) {
            rows.push(...(JSON.parse(Buffer.from(message.content).toString()) as ShownPhrase[]));
            ({ nextPageToken } = message);
          }
          return { rows, nextPageToken };
        }),
      );
      const lines = table(
        ["id", "language", "phrase", "forbidden", "mistakes"],
        rows.map(({ id, language, phrase, forbidden, commonMistakes }) => [
          id,
          language,
          phrase,
          forbidden ? "forbidden" : "-",
          commonMistakes.join(", "),
        ]),
      );
      session.print(rows, more ? `${lines}\n(there are more: --limit)` : lines);
    });
}
