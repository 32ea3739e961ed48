import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { type AttackForm, attackForms } from "./attack-forms.ts";
import type { AttackTally } from "./attacker.ts";

const { gateway, apiKey } = workerData as { gateway: string; apiKey: string };
const { hostname, port } = new URL(gateway);
const stop = new AbortController();
const tally: AttackTally = {};
const open = new Set<Socket>();
const reopenMs = 50;

/** Sends all pieces on a connection of its own, waits until it is answered or closed, and notes how it ended. */
async function strike({ name, held, pieces }: AttackForm): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port) });
  open.add(socket);
  let answer = "";
  const { promise: answered, resolve: onAnswer } = Promise.withResolvers<void>();
  socket.on("data", (data: Buffer) => {
    answer ||= data.toString("latin1", 0, 12);
    onAnswer();
  });
  // Errors are how many of these connections end; "close" follows.
  socket.on("error", () => {});
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  socket.on("close", () => onClose());
  for (const piece of pieces()) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await Promise.race([once(socket, "drain"), closed]).catch(() => {});
  }
  await Promise.race([answered, closed]);
  // Not before: the gateway drops the request of a client that has closed its side.
  if (held === undefined) socket.end();
  await closed;
  open.delete(socket);
  if (stop.signal.aborted) return;
  const outcomes = (tally[name] ??= {});
  const outcome = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? "closed";
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}

async function hold(form: AttackForm): Promise<void> {
  while (!stop.signal.aborted) {
    await strike(form);
    await pause(reopenMs);
  }
}

function run(form: AttackForm): void {
  for (let count = 0; count < (form.held ?? 0); count += 1) void hold(form);
  if (form.perSecond === undefined) return;
  const timer = setInterval(() => void strike(form), 1_000 / form.perSecond);
  stop.signal.addEventListener("abort", () => clearInterval(timer));
}

parentPort?.once("message", () => {
  stop.abort();
  for (const socket of open) socket.destroy();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort?.postMessage(tally);
});
const forms = attackForms(apiKey);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
parentPort?.postMessage("ready");
for (const form of forms) run(form);
