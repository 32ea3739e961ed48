import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type devAddresses, readDevJson } from "./dev-json.ts";
import { StackState } from "./stack-state.ts";

test("a dev.json that cannot be written at a restart is reported, and the next restart writes it", async () => {
  const dir = await mkdtemp(join(tmpdir(), "stack-state-test-"));
  const stateDir = join(dir, "state");
  await mkdir(stateDir);
  const report = vi.fn<(line: string) => void>();
  const addresses = { grpc: {}, ops: {} } as unknown as ReturnType<typeof devAddresses>;
  const state = new StackState(stateDir, addresses, report);
  state.onStart("gateway", 1);
  await state.publish([], {} as Parameters<StackState["publish"]>[1]);
  await rm(stateDir, { recursive: true });
  state.onStart("gateway", 2);
  await vi.waitFor(() => expect(report).toHaveBeenCalledWith(expect.stringContaining("dev.json cannot be written")));
  await mkdir(stateDir);
  state.onStart("gateway", 3);
  await vi.waitFor(async () => expect((await readDevJson(stateDir))?.pids).toEqual({ gateway: 3 }));
  await rm(dir, { recursive: true });
});
