import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openNatsServer } from "../src/backing/nats-server.ts";
import { stopStack } from "../src/stack/leftovers.ts";

test("when a killed stack has left only a broker, stopping the stack says that something was stopped", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "leftovers-test-"));
  const dataDir = join(stateDir, "data", "nats");
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  await using broker = await openNatsServer({ dataDir, port: 0, logFile: join(stateDir, "nats-server.log") });
  await writeFile(join(dataDir, "owner.pid"), "4194304\n"); // larger than the largest pid
  await stopStack(stateDir, report);
  await broker.exited;
  expect(lines.at(-1)).toBe("stopped");
  await stopStack(stateDir, report);
  expect(lines.at(-1)).toBe("no dev stack runs here");
  await rm(stateDir, { recursive: true });
});
