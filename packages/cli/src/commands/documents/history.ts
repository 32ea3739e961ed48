import { DocumentService, type HistoryEntry } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command } from "commander";
import { wholeNumber } from "../../options/whole-number.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { walkPages } from "../../rpc/walk-pages.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

export function showHistory(world: World): Command {
  return new Command("history")
    .description("list who did what to a document and when, last first")
    .argument("<id>", "id of the document")
    .option("--limit <n>", "most entries", wholeNumber(1, 100_000), 50)
    .action(async (documentId: string, { limit }: { limit: number }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using documents = await openService(session, "documents", DocumentService);
      const { rows, more } = await walkPages(limit, async (page) => {
        const answer = await documents.read((client, options) =>
          client.listDocumentHistory({ tenantId, documentId, ...page }, options),
        );
        return { rows: answer.entries.map(toShown), nextPageToken: answer.nextPageToken };
      });
      session.print(rows, toText(rows));
      if (more) world.stderr.write(`there are more than ${limit}: --limit\n`);
    });
}

function toShown({ at, by, transition, version, fromStatus, toStatus }: HistoryEntry) {
  return {
    at: isoTime(at),
    actor: by?.actor || null,
    role: by?.role || null,
    identity: by?.identity || null,
    // An entry of intake has no earlier status, and one of an edit has no transition.
    action: transition || (fromStatus === "" ? "create" : "update"),
    version: Number(version),
    from: fromStatus || null,
    to: toStatus,
  };
}

function toText(rows: readonly ReturnType<typeof toShown>[]): string {
  return table(
    ["at", "who", "role", "did", "version", "from", "to"],
    rows.map(({ at, actor, role, action, version, from, to }) => [
      at ?? "",
      actor ?? "-",
      role ?? "-",
      action,
      String(version),
      from ?? "-",
      to,
    ]),
  );
}
