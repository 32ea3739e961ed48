import type { Logger } from "@vidimus/kit/telemetry/log";
import type { Db } from "mongodb";
import { pino } from "pino";
import { laneKey, verdictOf } from "../../../src/domain/delivery.ts";
import { disabledWithNotice, enabledWithNotice } from "../../../src/domain/endpoint-notice.ts";
import { type FeedSnapshot, snapshotKey, webhookIdOf } from "../../../src/domain/payload.ts";
import type { SignResult } from "../../../src/snapshots/sign-snapshots.ts";
import { storeDeliveries } from "../../../src/ingest/store-deliveries.ts";
import { takeTurn } from "../../../src/replay/take-turn.ts";
import type { ManagedEndpoint } from "../../../src/domain/endpoint.ts";
import { changeEndpoint } from "../../../src/rpc/change-endpoint.ts";
import { type AttemptDeps, journalAttempt, postAttempt, prepareAttempt } from "../../../src/lanes/attempt-lane.ts";
import type { EndpointDirectory } from "../../../src/lanes/endpoint-directory.ts";
import { rowOf } from "../../../src/lanes/lanes-in-hand.ts";
import { openStores } from "../../../src/store/open-stores.ts";
import type { LeasedLane, SendableRow } from "../../../src/store/delivery-rows.ts";
import { testKek } from "../world.ts";
import { type ModelReceiver, type Reaction, Violation } from "./receiver.ts";
import type { ModelDocuments } from "./documents.ts";
import type { Enablings } from "./enablings.ts";
import { openDirectory } from "./model-directory.ts";
import type { Turns } from "./turns.ts";

const leaseMs = 20_000;
const silent: Logger = pino({ level: "silent" });

/** A leased lane, and what it sends next. */
interface Held {
  readonly lane: LeasedLane;
  readonly row: SendableRow;
  /** The turn at which the lane was read. */
  readonly loadedAt: number;
}

/** The turns of an attempt's post, answer and record, and the rule that the record breaks. */
interface AttemptTurns {
  post: number;
  answer: number;
  record: number;
  broken: string | undefined;
}

export interface ModelDeps {
  readonly turns: Turns;
  readonly db: Db;
  readonly documents: ModelDocuments;
  readonly receiver: ModelReceiver;
  /** Present in scripts whose rows may get too old. */
  readonly enablings?: Enablings | undefined;
  readonly tenantId: string;
  readonly endpointId: string;
}

/** A delivery process in which a script starts each piece of work. */
export class ModelProcess {
  readonly id: number;
  readonly #deps: ModelDeps;
  readonly #stores: Awaited<ReturnType<typeof openStores>>;
  readonly #ready: Held[] = [];
  readonly #inHand = new Set<string>();
  readonly #directory: EndpointDirectory;

  constructor(id: number, deps: ModelDeps, stores: Awaited<ReturnType<typeof openStores>>) {
    this.id = id;
    this.#deps = deps;
    this.#stores = stores;
    this.#directory = openDirectory(stores.endpoints);
  }

  static async open(id: number, deps: ModelDeps): Promise<ModelProcess> {
    const stores = openStores(deps.turns.database(deps.db), { kek: testKek });
    return new ModelProcess(id, deps, stores);
  }

  get #name() {
    const { tenantId, endpointId } = this.#deps;
    return { tenantId, endpointId };
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  /** Appoints missing bearers, as a start and a takeover do. */
  async takeOver(): Promise<void> {
    await this.#stores.lanes.appointMissingBearers(new Date());
  }

  async ingest(documentId: string, capacity: number): Promise<void> {
    const { documents, turns } = this.#deps;
    const loadedAt = turns.given;
    const snapshots = documents.pending(documentId);
    if (snapshots.length === 0) return;
    const endpoints = await this.#directory.listOf([this.#deps.tenantId]);
    const results = snapshots.map(signed);
    const sender = {
      reserve: async () => ({ of: () => capacity, takeBody: () => true, [Symbol.dispose]: () => {} }),
      isInHand: (lane: Parameters<typeof laneKey>[0]) => this.#inHand.has(laneKey(lane)),
      take: (lanes: readonly LeasedLane[]) => {
        for (const lane of lanes) this.#take(lane, loadedAt);
      },
      wake: () => {},
    };
    const deps = { ...this.#stores, sender, leaseMs };
    const stored = await storeDeliveries(deps, { snapshots, endpoints, mayWait: false }, Promise.resolve());
    await stored.send(results);
    await turns.turn("settle");
    documents.settle(snapshots);
  }

  #take(lane: LeasedLane, loadedAt: number): void {
    const row = rowOf(lane);
    if (!row) return;
    const key = laneKey(row);
    const at = this.#ready.findIndex((each) => laneKey(each.row) === key);
    if (at >= 0) this.#ready[at] = { lane, row, loadedAt };
    else if (!this.#inHand.has(key)) this.#ready.push({ lane, row, loadedAt });
    this.#inHand.add(key);
  }

  async send(reaction: Reaction): Promise<void> {
    if (this.#ready.length === 0) await this.#claim();
    await this.#attempt(reaction);
  }

  async #claim(): Promise<void> {
    const { endpointId, turns } = this.#deps;
    if (!(await this.#directory.find(endpointId))?.enabled) return;
    const loadedAt = turns.given;
    const until = new Date(Date.now() + leaseMs);
    const claimed = await this.#stores.lanes.claim({ endpointId, dueBy: new Date(), limit: 10 }, until);
    for (const lane of claimed) this.#take(lane, loadedAt);
  }

  async #attempt(reaction: Reaction): Promise<void> {
    const held = this.#ready.shift();
    if (!held) return;
    const { row } = held;
    const turn: AttemptTurns = { post: 0, answer: 0, record: 0, broken: undefined };
    const deps = this.#attemptDeps(held.loadedAt, reaction, turn);
    const prepared = await prepareAttempt(deps, held.lane);
    if (prepared.kind !== "ready") {
      this.#inHand.delete(laneKey(row));
      if (prepared.kind === "disabled") await this.#stores.lanes.release([held.lane], new Date());
      return;
    }
    const outcome = await postAttempt(deps, prepared);
    const journaled = await journalAttempt(deps, prepared, outcome, { isProbe: false, mayGoOn: () => true });
    if (turn.broken !== undefined) throw new Violation(turn.broken);
    if (verdictOf(outcome) === "accepted") this.#deps.receiver.noteRecorded(prepared.row, this.#deps.turns.given);
    if (journaled.step.next === "wait" && this.#deps.enablings?.hasEnabled(turn.post, turn.record)) {
      await this.#requireDue(row);
    }
    this.#inHand.delete(laneKey(row));
    if (journaled.lane) this.#take(journaled.lane, held.loadedAt);
  }

  /**
   * Requires that a lane whose endpoint was enabled during the lane's attempt waits for no backoff.
   */
  async #requireDue({ tenantId, endpointId, documentId, sequence }: SendableRow): Promise<void> {
    const lane = { tenantId, endpointId, documentId, lease: { $exists: false } };
    const rows = this.#deps.db.collection("deliveries");
    const late = rows.findOne({ ...lane, nextAttemptAt: { $gt: new Date() } });
    if (await this.#deps.turns.whole(late)) throw new Violation(`${sequence} waits though its endpoint was enabled`);
  }

  /** @param turn receives the turns of the attempt */
  #attemptDeps(loadedAt: number, reaction: Reaction, turn: AttemptTurns): AttemptDeps {
    const { turns, receiver, enablings } = this.#deps;
    const { lanes, journal, resentRows } = this.#stores;
    return {
      directory: this.#directory,
      payloads: { get: async (reference) => payloadOf(reference) },
      lanes,
      journal,
      resentRows,
      record: async (record) => {
        const { attempted, ended } = record.step;
        if (ended.some(({ row, state }) => row.deliveryId === attempted.deliveryId && state === "exhausted")) {
          turn.broken = enablings?.whyTooYoung(attempted, record.outcome.startedAt, turn.answer);
        }
        const [journaled = { kind: "lost" as const }] = await journal.record([record]);
        turn.record = turns.given;
        return journaled;
      },
      post: async ({ headers }) => {
        const name = this.#deps.documents.named(String(headers["webhook-id"]));
        const deliveryId = String(headers["vidimus-delivery-id"]);
        turn.post = turns.given;
        const outcome = await receiver.post({ ...name, deliveryId }, loadedAt, reaction);
        turns.note(`posted ${name.documentId} ${name.sequence}: ${reaction}`);
        await turns.turn("answer");
        turn.answer = turns.given;
        return outcome;
      },
      retries: enablings?.retries ?? { delaysMs: [5_000, 30_000], ageMsMax: 72 * 3_600_000 },
      attemptMs: 15_000,
      leaseMs,
      log: silent,
    };
  }

  async disable(): Promise<void> {
    await this.#change((endpoint, now) => disabledWithNotice(endpoint, "operator", now));
  }

  async enable(): Promise<void> {
    await this.#change(enabledWithNotice);
    const { enablings, endpointId } = this.#deps;
    if (enablings) await this.#stores.lanes.expediteEndpoint(endpointId, new Date());
  }

  /**
   * Changes the endpoint without audit log: to other processes the transaction of an audited change
   * looks like this one write.
   */
  async #change(change: Parameters<typeof changeEndpoint>[3]): Promise<void> {
    const { endpoints } = this.#stores;
    const audited = {
      replace: async (_: ManagedEndpoint, changed: ManagedEndpoint) => {
        const isStored = await endpoints.replace(changed);
        const { enabled, enabledAt } = changed;
        const counted = enabled ? { enabledAt } : {};
        if (isStored) this.#deps.enablings?.note({ turn: this.#deps.turns.given, ...counted });
        return isStored;
      },
    };
    const deps = { endpoints, audited, directory: this.#directory };
    const by = { actor: "", role: "", identity: "", from: "", requestId: "", keyPrefix: "" };
    await changeEndpoint(deps, { action: "change", by }, this.#name, change);
  }

  async replay(reaction: Reaction): Promise<void> {
    const { documents, receiver, turns, tenantId, endpointId } = this.#deps;
    const now = new Date();
    const replay = {
      replayId: `replay-${turns.given}`,
      tenantId,
      endpointId,
      until: now,
      states: ["superseded", "exhausted", "missing"] as const,
      latestOnly: false,
      state: "running" as const,
      pageToken: "",
      counts: { seen: 0, delivered: 0, failed: 0, skipped: 0 },
      failedTurns: 0,
      createdAt: now,
    };
    await takeTurn(
      {
        feed: documents,
        audit: documents,
        directory: this.#directory,
        deliveryLog: this.#stores.deliveryLog,
        replays: { advance: async () => true, finish: async () => {} },
        payloads: { get: async (reference) => payloadOf(reference) },
        post: async ({ headers }) => {
          const outcome = receiver.replay(documents.named(String(headers["webhook-id"])), reaction);
          turns.note(`replay: ${reaction}`);
          await turns.turn("answer");
          return outcome;
        },
        record: (resent) => this.#stores.deliveryLog.recordResent([resent], new Date()),
        retries: { delaysMs: [0] },
      },
      { replay, claim: "c" },
      new AbortController().signal,
    );
  }
}

function signed(snapshot: FeedSnapshot): SignResult {
  const signature = {
    keyId: "k",
    statement: "s",
    value: Buffer.alloc(64),
    signingNumber: 1,
    endorsement: Buffer.alloc(32),
  };
  const body = Buffer.from(snapshotKey(snapshot));
  return { snapshot, signature, payload: { ...payloadOf(snapshot), body } };
}

function payloadOf(reference: { tenantId: string; documentId: string; sequence: number }) {
  return {
    webhookId: webhookIdOf(reference),
    signingNumber: 1,
    event: "snapshot.usable",
    keyId: "k",
    committedAt: new Date(),
    body: Buffer.from("{}"),
  };
}
