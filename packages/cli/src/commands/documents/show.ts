import { type Document, DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command } from "commander";
import { CliError } from "../../failure.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import { printable } from "../../terminal/printable.ts";
import type { World } from "../../world.ts";

/** `documents show ID --tenant T` */
export function showDocument(world: World): Command {
  return new Command("show")
    .description("show a document: its newest version, and where its published one stands")
    .argument("<id>", "id of the document")
    .action(async (documentId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using documents = await openService(session, "documents", DocumentService);
      const { document } = await documents.read((client, options) =>
        client.getDocument({ tenantId, documentId }, options),
      );
      if (!document) throw new CliError(`the documents service answered without the document ${documentId}`);
      const shown = toShown(document);
      session.print(shown, words(shown));
    });
}

function toShown({ documentId, type, version, status, documentJson, live, ...rest }: Document) {
  return {
    id: documentId,
    type,
    version: Number(version),
    status,
    live: live
      ? {
          version: Number(live.version),
          status: live.status,
          sequence: Number(live.sequence),
          updatedAt: isoTime(live.updatedAt),
        }
      : null,
    workflow: { id: rest.workflowId, version: rest.workflowVersion },
    createdAt: isoTime(rest.createdAt),
    changedAt: isoTime(rest.changedAt),
    document: JSON.parse(Buffer.from(documentJson).toString("utf8")) as unknown,
  };
}

function words({ id, type, version, status, live, changedAt, document }: ReturnType<typeof toShown>): string {
  const published = live
    ? `version ${live.version} is ${live.status}, snapshot ${live.sequence} of ${live.updatedAt}`
    : "never published";
  const facts = [
    `id         ${id}`,
    `type       ${type}`,
    `newest     version ${version} is ${status}, changed ${changedAt}`,
    `published  ${published}`,
  ];
  return printable(`${facts.join("\n")}\n\n${JSON.stringify(document, null, 2)}`);
}
