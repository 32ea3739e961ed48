import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { withSecondTry } from "./second-try.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lost = () => new ConnectError("connection lost", Code.Unavailable);
/** A server is silent while another one answers. */
const detour = { hasDetour: () => true, isAny: true };
const noDetour = { hasDetour: () => false, isAny: true };

/** Makes a call whose tries end when the test says. */
function call(replicas: Parameters<typeof withSecondTry>[0], signal?: AbortSignal) {
  const tries: PromiseWithResolvers<string>[] = [];
  const attempt = () => {
    const made = Promise.withResolvers<string>();
    tries.push(made);
    return made.promise;
  };
  const outcome = withSecondTry(replicas, attempt, signal).catch((error: unknown) => error);
  return { tries, outcome };
}

/** Waits for longer than the pause before a further try. */
const wait = () => vi.advanceTimersByTimeAsync(10_000);

describe("no further try is made", () => {
  test("after an answer, when an earlier try is lost later", async () => {
    const { tries, outcome } = call(detour);
    await vi.advanceTimersByTimeAsync(150);
    expect(tries).toHaveLength(2);
    tries[1]!.resolve("answer");
    expect(await outcome).toBe("answer");
    tries[0]!.reject(lost());
    await wait();
    expect(tries).toHaveLength(2);
  });

  test("after an error of a server, when another try is lost later", async () => {
    const { tries, outcome } = call(detour);
    await vi.advanceTimersByTimeAsync(150);
    const refusal = new ConnectError("no", Code.NotFound);
    tries[1]!.reject(refusal);
    expect(await outcome).toBe(refusal);
    tries[0]!.reject(lost());
    await wait();
    expect(tries).toHaveLength(2);
  });

  test.each(["a try is lost", "the next try is due"])("after an abort, when %s", async (cause) => {
    const caller = new AbortController();
    const { tries, outcome } = call(detour, caller.signal);
    caller.abort(new Error("gone"));
    if (cause === "a try is lost") tries[0]!.reject(lost());
    await wait();
    expect(tries).toHaveLength(1);
    tries[0]!.reject(new ConnectError("gone", Code.Canceled));
    await outcome;
  });

  test("after the third one", async () => {
    const { tries, outcome } = call(detour);
    await wait();
    expect(tries).toHaveLength(3);
    for (const each of tries) each.reject(lost());
    expect(await outcome).toMatchObject({ code: Code.Unavailable });
    await wait();
    expect(tries).toHaveLength(3);
  });

  test("while a try is unanswered and no other server answers", async () => {
    const { tries, outcome } = call(noDetour);
    await wait();
    tries[0]!.resolve("answer");
    expect(await outcome).toBe("answer");
    expect(tries).toHaveLength(1);
  });
});

test("a call whose connection is lost is tried again at once, three times in all", async () => {
  const { tries, outcome } = call(noDetour);
  for (let made = 0; made < 3; made += 1) {
    expect(tries).toHaveLength(made + 1);
    tries[made]!.reject(lost());
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(await outcome).toMatchObject({ code: Code.Unavailable });
});
