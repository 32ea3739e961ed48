import { describe, expect, it, vi } from "vitest";
import { patient } from "../testing/patient.ts";
import { shareCalls } from "./share-calls.ts";

/** A call that resolves when the test calls `finish`. */
function gated(lateMs = 10_000) {
  const made: { question: string; last?: string; finish: (answer: string) => void; fail: (error: Error) => void }[] =
    [];
  const call = (question: string, last: string | undefined) =>
    new Promise<string>((finish, fail) => {
      made.push({ question, ...(last !== undefined && { last }), finish, fail });
    });
  return { made, ask: shareCalls((question: string) => question, call, { lateMs, outMax: 2 }) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a shared call", () => {
  it("starts at once when none runs", () => {
    const { made, ask } = gated();
    void ask("a");
    expect(made).toHaveLength(1);
  });

  it("is made once for all callers that arrive while an earlier call runs", async () => {
    const { made, ask } = gated();
    const first = ask("a");
    const later = [ask("a"), ask("a"), ask("a")];
    expect(made).toHaveLength(1);
    made[0]!.finish("old");
    expect(await first).toBe("old");
    await turn();
    expect(made).toHaveLength(2);
    made[1]!.finish("new");
    expect(await Promise.all(later)).toEqual(["new", "new", "new"]);
  });

  it("answers a caller only if the call started after the caller asked", async () => {
    const { made, ask } = gated();
    void ask("a");
    const afterWrite = ask("a");
    made[0]!.finish("before the write");
    await turn();
    made[1]!.finish("after the write");
    expect(await afterWrite).toBe("after the write");
  });

  it("is passed the answer of the call before it, and none when no call was running or waiting", async () => {
    const { made, ask } = gated();
    const both = [ask("a"), ask("a")];
    made[0]!.finish("old");
    await turn();
    made[1]!.finish("new");
    expect(await Promise.all(both)).toEqual(["old", "new"]);
    void ask("a");
    expect(made.map(({ last }) => last)).toEqual([undefined, "old", undefined]);
  });

  it("is not shared between different questions, which do not wait for each other", async () => {
    const { made, ask } = gated();
    void ask("a");
    void ask("b");
    expect(made.map(({ question }) => question)).toEqual(["a", "b"]);
  });

  it("that fails rejects only its own caller, not the one that waits for the next call", async () => {
    const { made, ask } = gated();
    const first = ask("a");
    const second = ask("a");
    made[0]!.fail(new Error("no"));
    await expect(first).rejects.toThrow("no");
    await turn();
    made[1]!.finish("yes");
    expect(await second).toBe("yes");
    void ask("a");
    expect(made).toHaveLength(3);
  });

  it("starts while earlier calls are late, until `outMax` calls run", async () => {
    const { made, ask } = gated(20);
    const first = ask("a");
    const second = ask("a");
    await vi.waitUntil(() => made.length === 2, { ...patient, interval: 1 });
    const third = ask("a");
    // After 60 ms the second call is late, too, but two calls run, and `outMax` is 2.
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(made).toHaveLength(2);
    made[1]!.finish("second");
    expect(await second).toBe("second");
    await turn();
    made[2]!.finish("third");
    expect(await third).toBe("third");
    made[0]!.finish("first");
    expect(await first).toBe("first");
    void ask("a");
    expect(made).toHaveLength(4);
  });
});
