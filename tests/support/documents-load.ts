import { Code, ConnectError } from "@connectrpc/connect";
import { setTimeout as pause } from "node:timers/promises";
import { lives, type Step } from "./document-lives.ts";
import { article, as, type Newsroom } from "./newsroom.ts";

/** An article on its way: what was pushed, and which steps of its life are known to have been taken. */
export interface Tracked {
  readonly draft: ReturnType<typeof article>;
  readonly life: readonly Step[];
  /** Acknowledged, or found in the history. */
  done: number;
  /** Whether one more may have been taken: its caller has no answer yet, or never got one and left it at that. */
  isUnsure: boolean;
}

/** Integrators and editors at work, a bounded number of calls in flight at any time. */
export interface Load {
  /** Every article whose create was acknowledged. */
  readonly tracked: readonly Tracked[];
  readonly counts: Readonly<Record<"created" | "moved" | "createUnknown" | "moveUnknown", number>>;
  /** What callers were answered although the promise says otherwise. */
  readonly faults: readonly string[];
  /** Lets everybody finish the call they are at, until it is acknowledged. */
  stop(): Promise<void>;
}

const pushers = 4;
const editors = 12;
/** Pushers wait while so many articles lie on the editors' desk. */
const deskMax = 60;
/** A caller who has asked for so long gives up: nobody waits for ever. */
const patienceMs = 60_000;

/** Starts working, and goes on until it is stopped. */
export function startLoad(room: Newsroom): Load {
  const load = new Working(room);
  load.start();
  return load;
}

class Working implements Load {
  readonly tracked: Tracked[] = [];
  readonly counts = { created: 0, moved: 0, createUnknown: 0, moveUnknown: 0 };
  readonly faults: string[] = [];
  readonly #room: Newsroom;
  readonly #desk: Tracked[] = [];
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
    if (this.#desk.length >= deskMax) return pause(5);
    const draft = article({ title: `Ferry ${this.counts.created} cancelled` });
    await this.#create(draft);
    const life = lives[this.counts.created++ % lives.length] ?? [];
    const tracked = { draft, life, done: 0, isUnsure: false };
    this.tracked.push(tracked);
    this.#desk.push(tracked);
  }

  /** Repeats the same create until it is known to be stored: by a 201, or by the 409 that says so to a repeat. */
  async #create(draft: Tracked["draft"]): Promise<void> {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(draft) };
    for (const patience = new Patience(`create ${draft.id}`); ; await patience.orThrow()) {
      const answer = await this.#room.request("/v1/documents", request).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.status === 201) return;
      if (answer?.status === 409 && patience.lost && text?.includes("with the same content")) return;
      if (answer && ![503, 504].includes(answer.status)) throw new Error(`create: ${answer.status} ${text}`);
      this.counts.createUnknown++;
    }
  }

  async #edit(): Promise<void> {
    const tracked = this.#desk.shift();
    if (!tracked) return pause(5);
    for (const step of tracked.life) {
      if (this.#stopping) return;
      tracked.isUnsure = true;
      if (!(await this.#take(tracked, step))) return;
      tracked.done++;
      tracked.isUnsure = false;
      this.counts.moved++;
    }
  }

  /**
   * Takes a step. When nobody can say what became of it, every other caller leaves it at that, and what is true then has
   * to stay whole without anybody's repeat; the rest read the history, and take it again if it is not there.
   *
   * @returns whether it is known to be taken
   */
  async #take(tracked: Tracked, step: Step): Promise<boolean> {
    const name = `${step.name} of ${tracked.draft.id}`;
    for (const patience = new Patience(name); ; await patience.orThrow()) {
      try {
        await this.#askFor(tracked, step);
        return true;
      } catch (error) {
        // A refusal of a repeat says that the first one arrived, if the history says so too.
        if (!isUnknown(error) && !patience.lost) throw new Error(name, { cause: error });
        if (isUnknown(error) && ++this.counts.moveUnknown % 2 === 0) return false;
        if (await this.#isTaken(tracked)) return true;
        if (!isUnknown(error)) throw new Error(name, { cause: error });
      }
    }
  }

  async #askFor({ draft, life, done }: Tracked, { name, version, snapshot }: Step): Promise<void> {
    const { tenantId, documents } = this.#room;
    const documentId = draft.id;
    if (name === "edit") {
      const documentJson = Buffer.from(JSON.stringify(edited(draft)));
      await documents.updateDocument({ tenantId, documentId, expectedVersion: 1n, documentJson }, as("admin"));
      return;
    }
    const transition = { documentId, name, expectedVersion: BigInt(version) };
    const moved = await documents.transitionDocument({ tenantId, transition }, as("admin"));
    const sequence = snapshot ? life.slice(0, done + 1).filter((step) => step.snapshot).length : 0;
    if (Number(moved.sequence) !== sequence) {
      this.faults.push(`${name} of ${documentId} was answered with sequence ${moved.sequence}, not ${sequence}`);
    }
  }

  async #isTaken({ draft, done }: Tracked): Promise<boolean> {
    const { tenantId, documents } = this.#room;
    for (const patience = new Patience(`history of ${draft.id}`); ; await patience.orThrow()) {
      try {
        const { entries } = await documents.listDocumentHistory({ tenantId, documentId: draft.id }, as("admin"));
        // The intake is an entry too.
        return entries.length - 1 > done;
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
  }
}

/** What version 2 of an article says. */
export function edited(draft: Tracked["draft"]): Tracked["draft"] {
  return { ...draft, title: "Ferry runs again" };
}

function isUnknown(error: unknown): boolean {
  return error instanceof ConnectError && [Code.Unavailable, Code.DeadlineExceeded].includes(error.code);
}

/** How long one caller goes on asking. */
class Patience {
  /** Whether an earlier attempt got no answer. */
  lost = false;
  readonly #what: string;
  readonly #until = performance.now() + patienceMs;

  constructor(what: string) {
    this.#what = what;
  }

  async orThrow(): Promise<void> {
    this.lost = true;
    if (performance.now() > this.#until) throw new Error(`${this.#what}: still unknown after ${patienceMs} ms`);
    await pause(20);
  }
}
