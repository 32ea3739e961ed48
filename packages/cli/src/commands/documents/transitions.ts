import {
  type AllowedTransition,
  DocumentService,
  type ListTransitionsResponse,
} from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command } from "commander";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { table } from "../../terminal/table.ts";
import type { World } from "../../world.ts";

export function listTransitions(world: World): Command {
  return new Command("transitions")
    .description("list what the role may do with a document now")
    .argument("<id>", "id of the document")
    .action(async (documentId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using documents = await openService(session, "documents", DocumentService);
      const answer = await documents.read((client, options) =>
        client.listTransitions({ tenantId, documentId }, options),
      );
      const shown = toShown(answer);
      session.print(shown, toText(shown));
    });
}

function toShown({ version, status, mayUpdate, transitions }: ListTransitionsResponse) {
  return { version: Number(version), status, mayUpdate, transitions: transitions.map(toRow) };
}

function toRow({ name, expectedVersion, fromStatus, toStatus, guards, refusal }: AllowedTransition) {
  return {
    name,
    version: Number(expectedVersion),
    from: fromStatus,
    to: toStatus,
    guards,
    refusal: refusal?.message ?? null,
  };
}

function toText({ version, status, mayUpdate, transitions }: ReturnType<typeof toShown>): string {
  const rows = transitions.map((row) => [row.name, String(row.version), row.from, row.to, row.refusal ?? "-"]);
  const update = mayUpdate ? "may be updated" : "may not be updated";
  const head = `version ${version} is ${status}, and ${update}`;
  return rows.length === 0 ? head : `${head}\n\n${table(["transition", "version", "from", "to", "refused by"], rows)}`;
}
