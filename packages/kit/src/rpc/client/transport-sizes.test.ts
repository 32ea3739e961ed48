import { Code } from "@connectrpc/connect";
import { describe, expect, test, vi } from "vitest";
import { patient } from "../../testing/patient.ts";
import { failure, limit, mib, pairs, type Phrases, serve } from "../testing/doors.ts";
import { openTcpProxy } from "../testing/tcp-proxy.ts";

/** Answers with as many bytes as the tenant id says. Each byte is the request's size modulo 251. */
const sized: Phrases = {
  upsertPhrase: ({ tenantId, phraseJson }) => ({
    phraseJson: new Uint8Array(Number(tenantId)).fill(phraseJson.length % 251),
  }),
};
const request = (asked: number, answered: number) => ({
  tenantId: String(answered),
  phraseJson: new Uint8Array(asked),
});

describe.each(pairs)("with $name,", ({ door, connect }) => {
  test("a message of a little less than 16 MiB passes in both directions", async () => {
    const { port } = await serve(door, sized);
    const { phraseJson } = await connect(port).upsertPhrase(request(limit - 1024, limit - 1024));
    expect(phraseJson.length).toBe(limit - 1024);
    expect(phraseJson.every((byte) => byte === (limit - 1024) % 251)).toBe(true);
  });

  test.each([
    { what: "a request", asked: limit, answered: 1 },
    { what: "an answer", asked: 1, answered: limit },
  ])("$what of more than 16 MiB fails as ResourceExhausted", async ({ asked, answered }) => {
    const { port } = await serve(door, sized);
    const client = connect(port);
    expect((await failure(client.upsertPhrase(request(asked, answered)))).code).toBe(Code.ResourceExhausted);
    expect((await client.upsertPhrase(request(1, 1))).phraseJson).toHaveLength(1);
  });

  test("a call reaches the server while six answers of 4 MiB wait on its connection", async () => {
    const entered: (() => void)[] = [];
    const small = Promise.withResolvers<void>();
    const { port } = await serve(door, {
      upsertPhrase: async ({ tenantId }) => {
        if (tenantId === "small") small.resolve();
        else await new Promise<void>((resolve) => entered.push(resolve));
        return { phraseJson: new Uint8Array(tenantId === "small" ? 1 : 4 * mib) };
      },
    });
    const proxy = await openTcpProxy(port);
    const client = connect(proxy.port);
    const large = [1, 2, 3, 4, 5, 6].map(() => client.upsertPhrase({ tenantId: "large" }));
    await vi.waitFor(() => expect(entered).toHaveLength(6), patient);
    proxy.holdAnswers();
    for (const answer of entered) answer();
    await new Promise(setImmediate);
    const call = client.upsertPhrase({ tenantId: "small" });
    await Promise.race([small.promise, call]);
    proxy.releaseAnswers();
    expect((await call).phraseJson).toHaveLength(1);
    for (const { phraseJson } of await Promise.all(large)) expect(phraseJson).toHaveLength(4 * mib);
  });
});
