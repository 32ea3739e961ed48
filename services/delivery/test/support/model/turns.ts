import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as afterCallbacks } from "node:timers/promises";
import type { Db } from "mongodb";

/** Work of a simulated process. It runs one command in each turn that the script gives it. */
export interface Actor {
  readonly name: string;
  readonly processId: number;
  isRunning: boolean;
  waiting: number;
}

interface Turn {
  readonly actor: Actor;
  readonly start: () => void;
}

/**
 * Gives turns to simulated processes: each command to MongoDB and each answer of a receiver waits
 * for one, and so do most calls to documents. Between two turns nothing runs, so a script of turns
 * has one outcome.
 */
export class Turns {
  readonly #waiting: Turn[] = [];
  readonly #actors = new Set<Actor>();
  /** Commands that were sent and are not answered. */
  readonly #underway = new Set<Promise<unknown>>();
  readonly #current = new AsyncLocalStorage<Actor>();
  #failure: { readonly error: unknown } | undefined;
  #given = 0;
  /** The turns and notes so far, to see why a script failed. */
  readonly trace: string[] = [];

  get given(): number {
    return this.#given;
  }

  /** Starts work. Resolves when the work waits for its first turn, or has ended. */
  async start(name: string, processId: number, work: () => Promise<void>): Promise<Actor> {
    const actor: Actor = { name, processId, isRunning: true, waiting: 0 };
    this.#actors.add(actor);
    this.#current
      .run(actor, work)
      .catch((error: unknown) => (this.#failure ??= { error }))
      .finally(() => {
        actor.isRunning = false;
        this.#actors.delete(actor);
      });
    await this.#untilQuiet();
    return actor;
  }

  /** Waits until the current work gets a turn. Work of a dead process waits for ever. */
  async turn(what: string): Promise<void> {
    const actor = this.#current.getStore();
    if (!actor) return;
    actor.waiting += 1;
    await new Promise<void>((start) => this.#waiting.push({ actor, start }));
    actor.waiting -= 1;
    this.note(`${actor.name} of ${actor.processId}: ${what}`);
  }

  note(line: string): void {
    this.trace.push(line);
  }

  /** Ends a process between two of its commands. */
  kill(processId: number): void {
    for (const actor of this.#actors) if (actor.processId === processId) this.#actors.delete(actor);
    const left = this.#waiting.filter(({ actor }) => actor.processId !== processId);
    this.#waiting.splice(0, this.#waiting.length, ...left);
  }

  /** Gives a turn to one waiting actor. @returns false when none waits */
  async give(which: number): Promise<boolean> {
    const [turn] = this.#waiting.splice(which % Math.max(1, this.#waiting.length), 1);
    if (turn) this.#given += 1;
    turn?.start();
    await this.#untilQuiet();
    return turn !== undefined;
  }

  async giveTo(actor: Actor, count: number): Promise<void> {
    for (let given = 0; given < count && actor.waiting > 0; given += 1) {
      const which = this.#waiting.findIndex((turn) => turn.actor === actor);
      if (which === -1 || !(await this.give(which))) return;
    }
  }

  async giveAll(): Promise<void> {
    while (await this.give(0));
  }

  /** Resolves when all work waits for a turn or has ended, and no command is running. */
  async #untilQuiet(): Promise<void> {
    const until = performance.now() + 20_000;
    do {
      await Promise.allSettled(this.#underway);
      await afterCallbacks();
      await afterCallbacks();
      if (performance.now() > until) throw new Error("work waits for something else than a turn");
    } while (this.#underway.size > 0 || [...this.#actors].some(({ isRunning, waiting }) => isRunning && waiting === 0));
    if (this.#failure) throw this.#failure.error;
  }

  /** Awaits a command, and gives no turn until it has ended. */
  async whole<T>(command: Promise<T>): Promise<T> {
    this.#underway.add(command);
    try {
      return await command;
    } finally {
      this.#underway.delete(command);
    }
  }

  /** A database of which every command to a collection waits for a turn. */
  database(db: Db): Db {
    const collection = (name: string) => this.#waitingFirst(db.collection(name));
    return new Proxy(db, { get: (target, key) => (key === "collection" ? collection : Reflect.get(target, key)) });
  }

  /** A collection, or a cursor, of which every method in `commands` waits for a turn first. */
  #waitingFirst<T extends object>(target: T): T {
    const get = (_: T, key: string | symbol) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function") return member;
      const method = member.bind(target) as (...args: unknown[]) => unknown;
      if (cursors.has(key)) return (...args: unknown[]) => this.#waitingFirst(method(...args) as object);
      if (!commands.has(key)) return method;
      return async (...args: unknown[]) => {
        await this.turn(String(key));
        return this.whole(Promise.resolve(method(...args)));
      };
    };
    return new Proxy(target, { get });
  }
}

const cursors = new Set<string | symbol>(["find", "aggregate", "sort", "limit", "hint", "maxTimeMS", "project"]);
const commands = new Set<string | symbol>([
  "toArray",
  "next",
  "findOne",
  "countDocuments",
  "distinct",
  "insertOne",
  "insertMany",
  "bulkWrite",
  "updateOne",
  "updateMany",
  "replaceOne",
  "deleteOne",
  "deleteMany",
  "findOneAndUpdate",
]);
