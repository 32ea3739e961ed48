import { type Document, DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command } from "commander";
import { readDocument } from "../../documents/read-document.ts";
import { readWebhooks, webhookLines } from "../../documents/read-webhooks.ts";
import { isoTime } from "../../rpc/iso-time.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function showDocument(world: World): Command {
  return new Command("show")
    .description("show a document: its newest version, and where its published one and its webhooks stand")
    .argument("<id>", "id of the document")
    .action(async (documentId: string, _: unknown, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      using documents = await openService(session, "documents", DocumentService);
      const shown = toShown(await readDocument(documents, tenantId, documentId));
      const webhooks = await readWebhooks(session, tenantId, documentId);
      const known = typeof webhooks === "string" ? null : webhooks;
      session.print({ ...shown, webhooks: known }, toText(shown, webhookLines(webhooks)));
    });
}

function toShown({ documentId, type, version, status, documentJson, lastPublished, ...rest }: Document) {
  return {
    id: documentId,
    type,
    version: Number(version),
    status,
    lastPublished: lastPublished
      ? {
          version: Number(lastPublished.version),
          status: lastPublished.status,
          sequence: Number(lastPublished.sequence),
          updatedAt: isoTime(lastPublished.updatedAt),
        }
      : null,
    workflow: { id: rest.workflowId, version: rest.workflowVersion },
    createdAt: isoTime(rest.createdAt),
    changedAt: isoTime(rest.changedAt),
    document: JSON.parse(Buffer.from(documentJson).toString("utf8")) as unknown,
  };
}

function toText(shown: ReturnType<typeof toShown>, webhooks: readonly string[]): string {
  const { id, type, version, status, lastPublished, changedAt, document } = shown;
  const published = lastPublished
    ? `version ${lastPublished.version} is ${lastPublished.status}, snapshot ${lastPublished.sequence} of ${lastPublished.updatedAt}`
    : "never published";
  const facts = [
    `id         ${id}`,
    `type       ${type}`,
    `newest     version ${version} is ${status}, changed ${changedAt}`,
    `published  ${published}`,
    ...webhooks,
  ];
  return `${facts.join("\n")}\n\n${JSON.stringify(document, null, 2)}`;
}
