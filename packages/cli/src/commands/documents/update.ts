import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { readDocument } from "../../documents/read-document.ts";
import { readJson } from "../../input/read-json.ts";
import { wholeNumber } from "../../options/whole-number.ts";
import { openService } from "../../rpc/open-service.ts";
import { openSession } from "../../session.ts";
import type { World } from "../../world.ts";

export function updateDocument(world: World): Command {
  return new Command("update")
    .description("write the next version of a document, whole; what is published stays as it is")
    .argument("<id>", "id of the document")
    .argument("<file>", "file with its new content {title, meta, content, links} as JSON, - for standard input")
    .option(
      "--version <n>",
      "version the content was made from; the update fails if another is newest (default: the newest)",
      wholeNumber(1),
    )
    .action(async (documentId: string, file: string, { version }: { version?: number }, command: Command) => {
      const session = await openSession(world, command);
      const tenantId = session.settings.get("tenant");
      const { bytes: documentJson } = await readJson(world, file);
      using documents = await openService(session, "documents", DocumentService);
      const expectedVersion = version ? BigInt(version) : (await readDocument(documents, tenantId, documentId)).version;
      const { document } = await documents.call((client, options) =>
        client.updateDocument({ tenantId, documentId, expectedVersion, documentJson }, options),
      );
      if (!document) throw new CliError(`the documents service answered without the document ${documentId}`);
      const written = { id: document.documentId, version: Number(document.version), status: document.status };
      session.print(written, `${written.id} is at version ${written.version}, ${written.status}`);
    });
}
