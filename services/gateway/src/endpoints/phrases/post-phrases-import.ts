import type { Client } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { DomainError } from "@vidimus/kit/errors";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { HttpError } from "../../errors/http-error.ts";
import { defineRoute } from "../../http/route.ts";
import type { LargeCharge } from "../../rates/rate-limits.ts";
import { csvExample, phraseInput } from "./phrase-schemas.ts";
import { importRowsMax, scanImport } from "./scan-import.ts";

const rowsPerPoint = 100;
/**
 * Rows for one point of the write budget in an import that validation refuses. Its rows were parsed
 * but not written, so the rest of its charge is refunded.
 */
const refusedRowsPerPoint = 1_000;
/** Enough for an import of 50,000 rows on a slow machine beside other imports. */
const timeoutMs = 50_000;

const count = Type.Integer({ minimum: 0 });
const list = Type.Array(phraseInput, { maxItems: importRowsMax });
const example = [
  { language: "sv", phrase: "kött" },
  { language: "sv", phrase: "Kyiv", commonMistakes: ["Kiev"] },
];

interface PostPhrasesImportDeps {
  readonly phrases: Pick<Client<typeof PhraseService>, "importPhrases">;
  /** As `RateLimits.chargeWhole`: throws RATE_LIMITED when too few points are left. */
  chargeWhole(tenantId: string, points: number): Promise<LargeCharge>;
}

export const postPhrasesImport = defineRoute({
  method: "POST",
  url: "/v1/phrases/import",
  scope: "phrases:write",
  body: {
    types: ["application/json", "text/csv"],
    bytesMax: 10 * 1024 * 1024,
    timeoutMs: 60_000,
    scan: scanImport,
  },
  doc: {
    operationId: "importPhrases",
    summary: "Import phrases",
    description:
      "A CSV has a header, and commas or semicolons between its columns. At most 50,000 rows, blank lines included; row 50,001 is refused while the body is still arriving. Does what PUT does " +
      "for each row, in order; the last of two equal rows wins. One bad row refuses them all: details names the lines, and " +
      "nothing is written. A 409, 503 or 504 may have left a part behind, and the same import sent again completes it. Costs " +
      "one write and one more for each 100 rows, blank ones too, and never more than the whole budget; it is charged before " +
      "anything is parsed, so a 429 wrote nothing. An import that is refused with 400 for its rows gets this back but for " +
      "one write and one more for each 1,000 rows.",
    body: {
      "application/json": {
        schema: Type.Union([list, Type.Object({ phrases: list }, { additionalProperties: false })]),
        example: { phrases: example },
      },
      "text/csv": { schema: Type.String(), example: csvExample },
    },
    success: {
      status: 200,
      description:
        "Imported. `imported` counts the rows of the import, those included that changed nothing; the others count its " +
        "phrases: those that did not exist, that had another content, and that were as the import has them. What is " +
        "missing to `imported` are rows whose phrase an earlier row has named",
      content: {
        "application/json": {
          schema: Type.Object({
            ok: Type.Literal(true),
            data: Type.Object({ imported: count, created: count, changed: count, unchanged: count }),
          }),
          example: { ok: true, data: { imported: example.length, created: 1, changed: 0, unchanged: 1 } },
        },
      },
    },
    errors: { CONFLICT: "the dictionary has changed during the import; it is safe to repeat" },
  },
  handler:
    (deps: PostPhrasesImportDeps) =>
    async ({ caller: { tenantId }, mediaType, body: content, bodyRows, rpc }) => {
      const charge = await deps.chargeWhole(tenantId, Math.ceil(bodyRows / rowsPerPoint));
      const format = mediaType === "text/csv" ? PhraseFormat.CSV : PhraseFormat.JSON;
      try {
        const request = { tenantId, format, content };
        const answer = await deps.phrases.importPhrases(request, { ...rpc, timeoutMs });
        const { imported, created, changed, unchanged } = answer;
        return ok(200, { imported, created, changed, unchanged });
      } catch (error) {
        const refusal = fromConnectError(error);
        if (refusal?.kind !== "invalid") throw error;
        await charge.refundAllBut(Math.ceil(bodyRows / refusedRowsPerPoint));
        throw withRows(refusal);
      }
    },
});

/** The refusal of an import, with the CSV line or the array index of each violation. */
function withRows({ message, violations }: DomainError): HttpError {
  return new HttpError("INVALID_PAYLOAD", message, {
    details: violations.map(({ pointer, message, line }) =>
      line === undefined ? { index: Number(pointer.split("/")[1]), pointer, message } : { line, pointer, message },
    ),
  });
}
