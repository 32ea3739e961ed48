import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { DeleteLanguageRequestSchema } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { expect, test } from "vitest";
import { deleteLanguage } from "./delete-language.ts";

/** A call that deletes from a language of 50,001 phrases. */
function openLanguage() {
  const standing = new Set(Array.from({ length: 50_001 }, (_, n) => `p${n}`));
  const handler = deleteLanguage({
    phrases: {
      countOf: () => Promise.resolve(standing.size),
      idsOf: (_, _language, max) => Promise.resolve([...standing].slice(0, max)),
      deleteAll: (_, ids) => Promise.resolve(ids.filter((id) => standing.delete(id)).length),
    },
  });
  const context: Pick<HandlerContext, "signal"> = { signal: new AbortController().signal };
  const request = create(DeleteLanguageRequestSchema, { tenantId: "demo", language: "sv" });
  return () => handler(request, context as HandlerContext);
}

test("a call deletes 50,000 phrases at most", async () => {
  const call = openLanguage();
  expect(await call()).toMatchObject({ deleted: 50_000 });
  expect(await call()).toMatchObject({ deleted: 1 });
});

test("a call says whether phrases are left", async () => {
  const call = openLanguage();
  expect(await call()).toMatchObject({ hasMore: true });
  expect(await call()).toMatchObject({ hasMore: false });
});
