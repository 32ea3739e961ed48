import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function showPhrase(world: World): Command {
  return new Command("show")
    .description("show one phrase")
    .argument("<id>", "id of the phrase")
    .action(async (phraseId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using service = await openService(session, "phrases", PhraseService);
      const { phraseJson } = await service.read((client, options) => client.getPhrase({ tenantId, phraseId }, options));
      const phrase: unknown = JSON.parse(Buffer.from(phraseJson).toString());
      session.print(phrase, JSON.stringify(phrase, undefined, 2));
    });
}
