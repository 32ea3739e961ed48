import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import type { Db } from "mongodb";
import { vi } from "vitest";
import { EndpointStore } from "../../../src/store/endpoint-store.ts";
import { createSecretBox } from "../../../src/store/secret-box.ts";
import { testKek } from "../world.ts";
import type { DeliveryRow } from "../../../src/store/rows.ts";
import { ModelDocuments } from "./documents.ts";
import type { Enablings } from "./enablings.ts";
import { type ModelDeps, ModelProcess } from "./model-process.ts";
import { ModelReceiver, type Reaction, Violation } from "./receiver.ts";
import { Turns } from "./turns.ts";

const process = fc.nat(1);
const documentId = fc.constantFrom("a", "a", "a", "b");
const reaction = fc.constantFrom<Reaction>("accepted", "accepted", "refused", "refused", "failed", "lostAnswer");
/** How many turns a piece of work gets at once; it gets the rest later. */
const turns = fc.constantFrom(0, 1, 1, 2, 2, 3, 4, 5, 7, 99, 99, 99);

const [capacity, which] = [fc.nat(1), fc.nat(7)];
const count = fc.integer({ min: 1, max: 4 });
const ms = fc.constantFrom(400, 700, 6_000, 25_000, 40_000);
const of = <K extends string>(kind: K) => ({ kind: fc.constant(kind), process, turns });

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ...of("publish"), documentId, capacity }) },
  { weight: 1, arbitrary: fc.record({ ...of("ingest"), documentId, capacity }) },
  { weight: 10, arbitrary: fc.record({ ...of("send"), reaction }) },
  { weight: 5, arbitrary: fc.record(of("toggle")) },
  { weight: 1, arbitrary: fc.record({ ...of("replay"), reaction }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), process }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("turn" as const), which, count }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export function scriptOf(seed: number): Step[] {
  const [script = []] = fc.sample(fc.array(step, { minLength: 6, maxLength: 40, size: "max" }), { seed, numRuns: 1 });
  return script;
}

/** A run of one script. It has a tenant and an endpoint of its own, so runs share a database. */
export class ScriptRun {
  readonly #deps: ModelDeps;
  readonly #turns: Turns;
  readonly #processes: ModelProcess[] = [];
  #started = 0;
  #isEnabled = true;

  private constructor(deps: ModelDeps) {
    this.#deps = deps;
    this.#turns = deps.turns;
  }

  /**
   * @param enablings present where rows may get too old
   * @throws Error with the trace; its cause is a Violation when a rule was broken
   */
  static async run(db: Db, name: string, script: readonly Step[], enablings?: Enablings): Promise<void> {
    const [tenantId, endpointId] = [`tenant_${name}`, randomUUID()];
    await insertEndpoint(db, tenantId, endpointId);
    const turns = new Turns();
    const rows = db.collection<DeliveryRow>("deliveries");
    const receiver = new ModelReceiver(rows, { tenantId, endpointId }, (read) => turns.whole(read));
    const documents = new ModelDocuments(tenantId, (what) => turns.turn(what));
    const run = new ScriptRun({ turns, db, documents, receiver, enablings, tenantId, endpointId });
    try {
      await run.#startProcess(0);
      await run.#startProcess(1);
      for (const each of script) await run.#step(each);
      await run.#end();
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${run.#turns.trace.join("\n")}`, {
        cause: error,
      });
    }
  }

  async #startProcess(at: number): Promise<void> {
    this.#started += 1;
    const opened = await ModelProcess.open(this.#started, this.#deps);
    this.#processes[at] = opened;
  }

  async #do(name: string, process: ModelProcess, turns: number, work: () => Promise<void>): Promise<void> {
    const actor = await this.#turns.start(name, process.id, work);
    await this.#turns.giveTo(actor, turns);
  }

  #process(at: number): ModelProcess {
    const found = this.#processes[at];
    if (!found) throw new RangeError(`there is no process ${at}`);
    return found;
  }

  async #step(each: Step): Promise<void> {
    if (each.kind === "wait") {
      vi.setSystemTime(Date.now() + each.ms);
      return;
    }
    if (each.kind === "turn") {
      for (let count = 0; count < each.count; count += 1) await this.#turns.give(each.which);
      return;
    }
    const own = this.#process(each.process);
    switch (each.kind) {
      case "publish":
      case "ingest":
        if (each.kind === "publish") this.#deps.documents.publish(each.documentId);
        return this.#do(each.kind, own, each.turns, () => own.ingest(each.documentId, each.capacity));
      case "send":
        return this.#do("send", own, each.turns, () => own.send(each.reaction));
      case "toggle":
        this.#isEnabled = !this.#isEnabled;
        return this.#do("toggle", own, each.turns, () => (this.#isEnabled ? own.enable() : own.disable()));
      case "replay":
        return this.#do("replay", own, each.turns, () => own.replay(each.reaction));
      case "kill": {
        this.#turns.note(`kill ${own.id}`);
        this.#turns.kill(own.id);
        await this.#startProcess(each.process);
        const next = this.#process(each.process);
        return this.#do("takeOver", next, 99, () => next.takeOver());
      }
    }
  }

  /**
   * Ends all work, lets all later attempts succeed, and requires every snapshot to be accepted or
   * superseded; or given up, where rows may get too old.
   */
  async #end(): Promise<void> {
    const { documents, db, tenantId, endpointId, receiver, enablings } = this.#deps;
    const rows = db.collection<DeliveryRow>("deliveries");
    await this.#turns.giveAll();
    const own = this.#process(0);
    const endpoint = await db.collection("endpoints").findOne({ _id: endpointId as never });
    if (endpoint?.["disabled"]) await this.#do("enable", own, 999, () => own.enable());
    for (let round = 0; ; round += 1) {
      for (const documentId of ["a", "b"]) await this.#do("ingest", own, 999, () => own.ingest(documentId, 1));
      if (
        !documents.hasPending &&
        (await rows.countDocuments({ tenantId, endpointId, endedAt: { $exists: false } })) === 0
      )
        break;
      if (round > 30) throw new Violation("a delivery never ends");
      vi.setSystemTime(Date.now() + 60_000);
      for (const each of this.#processes) {
        do await this.#do("send", each, 999, () => each.send("accepted"));
        while (each.readyCount > 0);
      }
    }
    const ended = await rows.find({ tenantId, endpointId }).toArray();
    for (const { documentId, sequence } of documents.all) {
      const row = ended.find((each) => each.documentId === documentId && each.sequence === sequence);
      if (!row) throw new Violation(`${sequence} has no delivery`);
      const isFollowed = ended.some(
        (each) => each.documentId === documentId && each.sequence > sequence && each.state === "delivered",
      );
      if (row.state === "superseded" && isFollowed) continue;
      if (row.state === "exhausted" && enablings) continue;
      if (row.state === "delivered" && receiver.accepted.has(`${documentId} ${sequence}`)) continue;
      throw new Violation(`${sequence} ended as ${row.state}`);
    }
  }
}

async function insertEndpoint(db: Db, tenantId: string, endpointId: string): Promise<void> {
  const now = new Date();
  await new EndpointStore(db, createSecretBox(testKek)).insert({
    endpointId,
    tenantId,
    url: "https://receiver.example/",
    secrets: [Buffer.alloc(32, 7)],
    createdAt: now,
    updatedAt: now,
    enabled: true,
    events: ["snapshot.usable", "snapshot.withheld"],
    headers: {},
    maxInFlight: 32,
    name: "",
    description: "",
    notices: [],
    revision: 1,
  });
}
