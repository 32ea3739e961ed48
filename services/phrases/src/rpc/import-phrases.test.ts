import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { ImportPhrasesRequestSchema, PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { collectGarbage } from "@vidimus/kit/testing/collect-garbage";
import { expect, test } from "vitest";
import { ImportQueue } from "../domain/import/import-queue.ts";
import { importPhrases, type ImportPhrasesDeps } from "./import-phrases.ts";

const forms = {
  CSV: [PhraseFormat.CSV, "language,phrase\nsv,kött\n"],
  JSON: [PhraseFormat.JSON, '[{"language":"sv","phrase":"kött"}]'],
} as const;

test.each(Object.entries(forms))(
  "an import of %s does not hold its file while it writes",
  async (_, [format, text]) => {
    const request = create(ImportPhrasesRequestSchema, { tenantId: "demo", format, content: bytesOf(text) });
    const file = new WeakRef(request.content.buffer);
    let heldDuringWrite: unknown;
    const phrases: ImportPhrasesDeps["phrases"] = {
      find: () => Promise.resolve([]),
      change: async (_tenantId, work) => {
        await collectGarbage();
        heldDuringWrite = file.deref();
        return work(() => Promise.resolve(true));
      },
    };
    const deps = { phrases, imports: new ImportQueue(), now: () => new Date(), mintId: () => crypto.randomUUID() };
    const answer = await importOf(deps, request);
    expect(answer).toEqual({ imported: 1 });
    expect(heldDuringWrite).toBeUndefined();
  },
);

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

type Import = ReturnType<typeof importPhrases>;

function importOf(deps: ImportPhrasesDeps, request: Parameters<Import>[0]): ReturnType<Import> {
  const context: Pick<HandlerContext, "signal"> = { signal: new AbortController().signal };
  return importPhrases(deps)(request, context as HandlerContext);
}
