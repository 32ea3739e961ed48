import { PhraseFormat, PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { CliError } from "../cli-error.ts";
import { type ImportAnswer, ImportRefused } from "../public-api/phrases-api.ts";
import { openService, type ServiceCaller } from "../rpc/open-service.ts";
import type { Session } from "../session.ts";
import type { Part } from "./phrase-file.ts";

/** An import of 50,000 rows takes seconds, and waits for earlier imports. */
const timeoutMs = 60_000;
/** Most ids that the service takes in one call. */
const idsPerCall = 10_000;

/** One language of a tenant's dictionary, at the teams door of phrases. */
export interface LanguageDictionary extends Disposable {
  ids(): Promise<Set<string>>;
  /**
   * Imports a part. A dry run imports nothing, and returns what an import would do; the ids that it
   * returns for phrases to be created have no meaning.
   *
   * @throws ImportRefused for invalid rows, also those of another language; CliError for any other
   * failure
   */
  import(part: Part, dryRun: boolean): Promise<ImportAnswer & { readonly phraseIds: readonly string[] }>;
  /** Deletes phrases. Returns how many of them existed. */
  delete(ids: readonly string[]): Promise<number>;
}

export async function openLanguage(session: Session, language: string): Promise<LanguageDictionary> {
  const tenantId = session.settings.get("tenant");
  const service = await openService(session, "phrases", PhraseService);
  return {
    ids: () =>
      service.read((client, options) =>
        idsOf(client.listPhrases({ tenantId, language, format: PhraseFormat.CSV }, { ...options, timeoutMs: 0 })),
      ),
    import: (part, dryRun) => importPart(service, part, { tenantId, language, dryRun, withIds: true }),
    async delete(ids) {
      let deleted = 0;
      for (let at = 0; at < ids.length; at += idsPerCall) {
        const request = { tenantId, phraseIds: ids.slice(at, at + idsPerCall) };
        // May be repeated, because missing ids are skipped.
        const answer = await service.read((client, options) =>
          client.batchDeletePhrases(request, { ...options, timeoutMs }),
        );
        deleted += answer.deleted;
      }
      return deleted;
    },
    [Symbol.dispose]: () => service[Symbol.dispose](),
  };
}

/**
 * Reads the ids in the first column of a CSV export. Each piece ends after a complete row, and no
 * cell has a line break.
 */
async function idsOf(pieces: AsyncIterable<{ content: Uint8Array }>): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { content } of pieces) {
    for (const row of Buffer.from(content).toString().split("\r\n")) {
      const [id = ""] = row.split(",", 1);
      if (id !== "" && id !== "id") ids.add(id);
    }
  }
  return ids;
}

async function importPart(
  service: ServiceCaller<typeof PhraseService>,
  { type, text }: Part,
  options: { tenantId: string; language: string; dryRun: boolean; withIds: boolean },
): Promise<ImportAnswer & { phraseIds: string[] }> {
  const format = type === "text/csv" ? PhraseFormat.CSV : PhraseFormat.JSON;
  const request = { ...options, format, content: Buffer.from(text) };
  try {
    // May be repeated, because a row that was imported already changes nothing.
    return await service.read((client, call) => client.importPhrases(request, { ...call, timeoutMs }));
  } catch (error) {
    const { fromConnectError } = await import("@vidimus/kit/rpc/errors/error-table");
    const refusal = error instanceof CliError ? fromConnectError(error.cause) : undefined;
    if (refusal?.kind !== "invalid" || refusal.violations.length === 0) throw error;
    const faults = refusal.violations.map(({ pointer, message, line }) => {
      const [, index, ...field] = pointer.split("/");
      const row = line === undefined ? { index: Number(index) } : { line };
      return { ...row, message: `${field.join("/")} ${message}`.trim() };
    });
    throw new ImportRefused(refusal.message, faults);
  }
}
