import { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { expect, test } from "vitest";
import { openRpcClient } from "./client.ts";
import { mesh, numberIn, phrase, serve } from "../testing/doors.ts";

test.each([
  "127.0.0.1:PORT",
  "localhost:PORT",
  "dns:///localhost:PORT",
  "ipv4:127.0.0.1:PORT",
  "ipv4:127.0.0.1:PORT,127.0.0.1:PORT",
])("a client reaches the server at the target %s", async (target) => {
  const { port } = await serve(mesh, { upsertPhrase: () => phrase(1) });
  using client = openRpcClient(PhraseService, { target: target.replaceAll("PORT", String(port)) });
  expect(numberIn((await client.upsertPhrase({}, { timeoutMs: 5_000 })).phraseJson)).toBe(1);
});
