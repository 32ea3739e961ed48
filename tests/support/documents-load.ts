import { Code, ConnectError } from "@connectrpc/connect";
import { setTimeout as pause } from "node:timers/promises";
import { lifecycles, type Step } from "./document-lifecycles.ts";
import { article, as, type Newsroom } from "./newsroom.ts";

/** An article: what was pushed, and how many steps of its lifecycle are known to be done. */
export interface Tracked {
  readonly draft: ReturnType<typeof article>;
  readonly lifecycle: readonly Step[];
  /** Steps that were acknowledged or found in the history. */
  done: number;
  /** Whether one more step may be done: its last call is in flight or ended in an error. */
  isUnsure: boolean;
}

/** The load of integrators and editors, with a bounded number of calls in flight. */
export interface Load {
  /** Every article whose create was acknowledged. */
  readonly tracked: readonly Tracked[];
  readonly counts: Readonly<Record<"created" | "transitioned" | "createUnknown" | "transitionUnknown", number>>;
  /** Wrong answers, and calls whose outcome was still unknown after `deadlineMs`. */
  readonly faults: readonly string[];
  /** Begins no further creates and steps. Resolves when no call is in flight. */
  stop(): Promise<void>;
}

const pushers = 4;
const editors = 12;
/** Pushers wait while this many articles wait for an editor. */
const queueMax = 60;
/** A caller repeats a call for at most this time. */
const deadlineMs = 60_000;

export function startLoad(room: Newsroom): Load {
  const load = new RunningLoad(room);
  load.start();
  return load;
}

class RunningLoad implements Load {
  readonly tracked: Tracked[] = [];
  readonly counts = { created: 0, transitioned: 0, createUnknown: 0, transitionUnknown: 0 };
  readonly faults: string[] = [];
  readonly #room: Newsroom;
  readonly #queue: Tracked[] = [];
  #workers: Promise<void>[] = [];
  #stopping = false;

  constructor(room: Newsroom) {
    this.#room = room;
  }

  start(): void {
    const crew = (size: number, work: () => Promise<void>) => Array.from({ length: size }, () => this.#repeat(work));
    this.#workers = [...crew(pushers, () => this.#push()), ...crew(editors, () => this.#edit())];
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#workers);
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#stopping) {
      await work().catch((error: unknown) => this.faults.push(String(error)));
    }
  }

  async #push(): Promise<void> {
    if (this.#queue.length >= queueMax) return pause(5);
    const draft = article({ title: `Ferry ${this.counts.created} cancelled` });
    await this.#create(draft);
    const lifecycle = lifecycles[this.counts.created++ % lifecycles.length] ?? [];
    const tracked = { draft, lifecycle, done: 0, isUnsure: false };
    this.tracked.push(tracked);
    this.#queue.push(tracked);
  }

  /**
   * Repeats a create until it is known to be stored: by 201, or after a lost answer by 409
   * same_content.
   */
  async #create(draft: Tracked["draft"]): Promise<void> {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(draft) };
    for (const deadline = new Deadline(`create ${draft.id}`); ; await deadline.orThrow()) {
      const answer = await this.#room.request("/v1/documents", request).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.status === 201) return;
      if (answer?.status === 409 && deadline.lost && text?.includes('"reason":"same_content"')) return;
      if (answer && ![503, 504].includes(answer.status)) throw new Error(`create: ${answer.status} ${text}`);
      this.counts.createUnknown++;
    }
  }

  async #edit(): Promise<void> {
    const tracked = this.#queue.shift();
    if (!tracked) return pause(5);
    for (const step of tracked.lifecycle) {
      if (this.#stopping) return;
      tracked.isUnsure = true;
      if (!(await this.#do(tracked, step))) return;
      tracked.done++;
      tracked.isUnsure = false;
      this.counts.transitioned++;
    }
  }

  /**
   * Does a step. Every second lost answer ends the steps of its article, whose rows must be whole
   * without a repeat. After the others the caller reads the history, and repeats the step if it is
   * missing there.
   *
   * @returns whether the step is known to be done
   */
  async #do(tracked: Tracked, step: Step): Promise<boolean> {
    const name = `${step.name} of ${tracked.draft.id}`;
    for (const deadline = new Deadline(name); ; await deadline.orThrow()) {
      try {
        await this.#call(tracked, step);
        return true;
      } catch (error) {
        // A refused repeat is right if the history has the first attempt.
        if (!isUnknown(error) && !deadline.lost) throw new Error(name, { cause: error });
        if (isUnknown(error) && ++this.counts.transitionUnknown % 2 === 0) return false;
        if (await this.#isDone(tracked)) return true;
        if (!isUnknown(error)) throw new Error(name, { cause: error });
      }
    }
  }

  async #call({ draft, lifecycle, done }: Tracked, { name, version, snapshot }: Step): Promise<void> {
    const { tenantId, documents } = this.#room;
    const documentId = draft.id;
    if (name === "edit") {
      const documentJson = Buffer.from(JSON.stringify(edited(draft)));
      await documents.updateDocument({ tenantId, documentId, expectedVersion: 1n, documentJson }, as("admin"));
      return;
    }
    const transition = { documentId, name, expectedVersion: BigInt(version) };
    const { sequence: answered } = await documents.transitionDocument({ tenantId, transition }, as("admin"));
    const sequence = snapshot ? lifecycle.slice(0, done + 1).filter((step) => step.snapshot).length : 0;
    if (Number(answered) !== sequence) {
      this.faults.push(`${name} of ${documentId} was answered with sequence ${answered}, not ${sequence}`);
    }
  }

  async #isDone({ draft, done }: Tracked): Promise<boolean> {
    const { tenantId, documents } = this.#room;
    for (const deadline = new Deadline(`history of ${draft.id}`); ; await deadline.orThrow()) {
      try {
        const { entries } = await documents.listDocumentHistory({ tenantId, documentId: draft.id }, as("admin"));
        // One entry is the create, which is no step.
        return entries.length - 1 > done;
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
  }
}

/** The content of version 2 of an article. */
export function edited(draft: Tracked["draft"]): Tracked["draft"] {
  return { ...draft, title: "Ferry runs again" };
}

function isUnknown(error: unknown): boolean {
  return error instanceof ConnectError && [Code.Unavailable, Code.DeadlineExceeded].includes(error.code);
}

class Deadline {
  /** Whether the outcome of an earlier attempt is unknown. */
  lost = false;
  readonly #what: string;
  readonly #until = performance.now() + deadlineMs;

  constructor(what: string) {
    this.#what = what;
  }

  async orThrow(): Promise<void> {
    this.lost = true;
    if (performance.now() > this.#until) throw new Error(`${this.#what}: still unknown after ${deadlineMs} ms`);
    await pause(20);
  }
}
