import { expect, test } from "vitest";
import { ImportQueue } from "./import-queue.ts";

const never = new AbortController().signal;
const MiB = 1024 * 1024;

/** Starts imports by name, each of which runs until `end`. */
function openImports() {
  const queue = new ImportQueue();
  const working = new Map<string, () => void>();
  const started: string[] = [];
  const begin = (name: string, bytes = MiB, signal = never) =>
    queue.run(name.split(" ")[0]!, bytes, signal, () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      started.push(name);
      working.set(name, () => resolve(name));
      return promise;
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string) => {
    working.get(name)!();
    working.delete(name);
    await settled();
  };
  return { begin, end, started, working, settled };
}

test("one tenant's imports run one after the other", async () => {
  const { begin, end, started, settled } = openImports();
  const all = ["a 1", "a 2", "a 3"].map((name) => begin(name));
  await settled();
  expect(started).toEqual(["a 1"]);
  await end("a 1");
  expect(started).toEqual(["a 1", "a 2"]);
  for (const name of ["a 2", "a 3"]) await end(name);
  expect(await Promise.all(all)).toEqual(["a 1", "a 2", "a 3"]);
});

test("an import starts at once beside another tenant's import; that tenant's next import goes on waiting", async () => {
  const { begin, end, started, settled } = openImports();
  const all = ["a 1", "a 2", "b 1"].map((name) => begin(name));
  await settled();
  expect(started).toEqual(["a 1", "b 1"]);
  await end("b 1");
  expect(started).toEqual(["a 1", "b 1"]);
  for (const name of ["a 1", "a 2"]) await end(name);
  await Promise.all(all);
});

test("tenants take turns: one import does not wait for all the imports that other tenants sent before", async () => {
  const { begin, end, started, working, settled } = openImports();
  const all = ["a 1", "a 2", "a 3", "b 1", "b 2", "b 3", "c 1"].map((name) => begin(name));
  await settled();
  for (let step = 0; step < 7; step += 1) await end(working.keys().next().value!);
  await Promise.all(all);
  expect(started.slice(0, 3)).toEqual(["a 1", "b 1", "c 1"]);
  expect(started).toHaveLength(7);
});

test("an import whose caller goes away while it waits does not start, and the next import takes its turn", async () => {
  const { begin, end, started, settled } = openImports();
  const first = begin("a 1");
  await settled();
  const gone = new AbortController();
  const second = begin("a 2", MiB, gone.signal);
  const third = begin("a 3");
  gone.abort(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  await end("a 1");
  await settled();
  expect(started).toEqual(["a 1", "a 3"]);
  await end("a 3");
  await Promise.all([first, third]);
});

test("a tenant's next import runs after a failed one", async () => {
  const queue = new ImportQueue();
  for (const attempt of ["one", "two", "three"]) {
    await expect(queue.run("a", MiB, never, () => Promise.reject(new Error(attempt)))).rejects.toThrow(attempt);
  }
});

test("an import that brings its tenant's imports over 32 MiB is refused as exhausted", async () => {
  const { begin, end, settled } = openImports();
  const held = ["a 1", "a 2"].map((name) => begin(name, 16 * MiB));
  await expect(begin("a 3", 1)).rejects.toMatchObject({ kind: "exhausted" });
  await settled();
  for (const name of ["a 1", "a 2"]) await end(name);
  await Promise.all(held);
});

test("imports beyond 64 MiB in all are refused as unavailable until earlier ones end", async () => {
  const { begin, end, settled } = openImports();
  const held = ["a 1", "a 2", "b 1", "b 2"].map((name) => begin(name, 16 * MiB));
  await expect(begin("c 1", 1)).rejects.toMatchObject({ kind: "unavailable" });
  await settled();
  for (const name of ["a 1", "b 1", "a 2", "b 2"]) await end(name);
  await Promise.all(held);
  const again = begin("c 2", 32 * MiB);
  await settled();
  await end("c 2");
  expect(await again).toBe("c 2");
});
