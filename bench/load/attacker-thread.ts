import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { AttackForm } from "./attack-form.ts";
import { attackForms } from "./attack-forms.ts";
import type { AttackOrder, AttackTally } from "./attacker.ts";
import { neighbourForm } from "./neighbour-forms.ts";

const { target, form } = workerData as AttackOrder;
const { hostname, port } = new URL(target.url);
const stop = new AbortController();
const tally: AttackTally = {};
const open = new Set<Socket>();
const reopenMsDefault = 50;
const answerHeadBytes = 2_048;

/**
 * Sends all pieces on a new connection, and counts the outcome once the connection is closed.
 * Returns the first 2 KiB of the answer at most; an empty text without an answer.
 */
async function strike(form: AttackForm, connection: number): Promise<string> {
  const socket = connect({ host: hostname, port: Number(port) });
  open.add(socket);
  let answer = "";
  const { promise: answered, resolve: onAnswer } = Promise.withResolvers<void>();
  socket.on("data", (data: Buffer) => {
    answer ||= data.toString("latin1", 0, answerHeadBytes);
    onAnswer();
    if (form.readEveryMs !== undefined) readLater(socket, form.readEveryMs);
  });
  // Ignored: many of these connections end with an error, and "close" follows.
  socket.on("error", () => {});
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  socket.on("close", () => onClose());
  await Promise.race([write(socket, form, connection), closed]);
  await Promise.race([answered, closed]);
  // The connection is ended only now, because the gateway drops the request of a client that has
  // closed its side.
  if (form.held === undefined) socket.end();
  await closed;
  open.delete(socket);
  note(form.name, /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? (stop.signal.aborted ? "waiting" : "closed"));
  return answer;
}

async function write(socket: Socket, { pieces, pieceEveryMs }: AttackForm, connection: number): Promise<void> {
  for (const piece of pieces(connection)) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await once(socket, "drain").catch(() => {});
    if (pieceEveryMs !== undefined) await idle(pieceEveryMs);
  }
}

function readLater(socket: Socket, afterMs: number): void {
  socket.pause();
  if (afterMs === Number.POSITIVE_INFINITY) return;
  const timer = setTimeout(() => socket.resume(), afterMs);
  socket.once("close", () => clearTimeout(timer));
}

async function hold(form: AttackForm, connection: number): Promise<void> {
  if (form.opensPerSecond !== undefined) await idle((1_000 * connection) / form.opensPerSecond);
  const { reopenMs = reopenMsDefault } = form;
  while (!stop.signal.aborted) {
    const answer = await strike(form, connection);
    if (reopenMs === Number.POSITIVE_INFINITY) return;
    const [, seconds] = (form.heedsRetryAfter && /\r\nretry-after: (\d+)\r\n/i.exec(answer)) || [];
    await idle(seconds === undefined ? reopenMs : 1_000 * Number(seconds));
  }
}

async function idle(forMs: number): Promise<void> {
  await pause(forMs, undefined, { signal: stop.signal }).catch(() => {});
}

async function run(form: AttackForm): Promise<void> {
  for (const outcome of (await form.prepare?.()) ?? []) note(form.name, outcome);
  const strikes = Array.from({ length: form.held ?? 0 }, (_, connection) => hold(form, connection));
  if (form.perSecond !== undefined) strikes.push(strikeSteadily(form, form.perSecond));
  await Promise.all(strikes);
}

async function strikeSteadily(form: AttackForm, perSecond: number): Promise<void> {
  const strikes: Promise<string>[] = [];
  const timer = setInterval(() => strikes.push(strike(form, strikes.length)), 1_000 / perSecond);
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  clearInterval(timer);
  await Promise.all(strikes);
}

function note(name: string, outcome: string): void {
  const outcomes = (tally[name] ??= {});
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}

const forms = form === "all" ? attackForms(target) : [neighbourForm(form.neighbour, target)];
parentPort?.once("message", () => {
  stop.abort();
  for (const socket of open) socket.destroy();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no
  // origin
  void over.then(() => parentPort?.postMessage(tally));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no
// origin
parentPort?.postMessage("ready");
const over = Promise.all(forms.map((each) => run(each)));
