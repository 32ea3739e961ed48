import { type CommandCounter, countCommands } from "@vidimus/devstack/testing/count-commands";
import type { Constellation } from "@vidimus/devstack/testing/constellation";
import { type MongoCommand, mongoCommands } from "@vidimus/kit/mongo/mongo";
import { patient } from "@vidimus/kit/testing/patient";
import { vi } from "vitest";

export interface Messages {
  /** RPCs that were answered, for example "BatchCreateDocuments". */
  readonly rpcs: readonly string[];
  /**
   * Commands that were sent to MongoDB, for example "find heads"; of several services "find
   * documents.heads".
   */
  readonly commands: readonly string[];
}

/**
 * Counts the RPCs that the documents service answers and the commands that it sends to MongoDB
 * during an operation. Open it before the constellation: clients of MongoDB that are open already
 * report nothing.
 */
export class MessageCounter implements Disposable {
  readonly #commands: CommandCounter = countCommands("vidimus-documents");

  /**
   * Runs `work`. Returns the messages that it caused, without RPCs of `ofDelivery` and without
   * commands on `snapshots`, because delivery and signing may cause these meanwhile.
   */
  async during({ dev }: Constellation, work: () => Promise<unknown>): Promise<Messages> {
    const before = await handled(dev.ops.documents);
    const commands = await this.#commands.during(work);
    const after = await handled(dev.ops.documents);
    const rpcs = Array.from(after, ([method, count]) => Array<string>(count - (before.get(method) ?? 0)).fill(method));
    return { rpcs: rpcs.flat(), commands: commands.filter((command) => !command.endsWith(" snapshots")) };
  }

  [Symbol.dispose](): void {
    this.#commands[Symbol.dispose]();
  }
}

/** Commands of timers: they come whether there are snapshots or not. */
const idle = new Set(["aggregate delivery.deliveries"]);
const idleCollections = /[.](?:replicas|signers|ring|tenants)$/;

/** Counts what a snapshot costs in all services. Open it, too, before the constellation. */
export class SnapshotCosts implements Disposable {
  readonly #seen: string[] = [];
  readonly #note = (message: unknown) => {
    const { appName, name, collection } = message as MongoCommand;
    const target = [appName.replace("vidimus-", ""), ...(collection === "" ? [] : [collection])].join(".");
    const command = `${name} ${target}`;
    if (!idle.has(command) && !idleCollections.test(command)) this.#seen.push(command);
  };

  constructor() {
    mongoCommands.subscribe(this.#note);
  }

  /**
   * Returns, sorted, the commands that were sent from the call of `publish` until its snapshot was
   * delivered and settled, and the RPCs about snapshots that documents and signing answered. Leaves
   * out what timers send.
   */
  async ofPublication({ dev }: Constellation, publish: () => Promise<unknown>): Promise<Messages> {
    const before = await this.#handled(dev);
    const from = this.#seen.length;
    await publish();
    const isDone = (name: string) => this.#seen.indexOf(name, from) >= 0;
    await vi.waitUntil(() => isDone("update delivery.deliveries") && isDone("update documents.snapshots"), {
      timeout: 10_000,
      interval: 5,
    });
    const commands = this.#seen.slice(from).toSorted();
    // A call is counted when its answer was sent.
    await vi.waitUntil(
      async () => (await this.#handled(dev)).get("SettleSnapshots") !== before.get("SettleSnapshots"),
      patient,
    );
    const rpcs = Array.from(await this.#handled(dev), ([method, count]) =>
      Array<string>(count - (before.get(method) ?? 0)).fill(method),
    );
    return { rpcs: rpcs.flat().toSorted(), commands };
  }

  async #handled({ ops }: Constellation["dev"]): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const url of [ops.documents, ops.signing]) {
      const text = await (await fetch(`${url}/metrics`)).text();
      for (const [, , method = "", count] of text.matchAll(handledCount)) {
        if (method.endsWith("Snapshots") && method !== "ListPendingSnapshots") {
          counts.set(method, (counts.get(method) ?? 0) + Number(count));
        }
      }
    }
    return counts;
  }

  [Symbol.dispose](): void {
    mongoCommands.unsubscribe(this.#note);
  }
}

const handledCount = /^vidimus_rpc_handled_seconds_count\{.*?\.(\w+)\/(\w+)".*\} (\d+)$/gm;

/** Services that only delivery and signing call, at times of their own. */
const ofDelivery = new Set(["SnapshotFeedService", "SignatureAuditService"]);

/** How often documents has handled each method, from its metrics; without those of `ofDelivery`. */
async function handled(ops: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, service = "", method = "", count] of text.matchAll(handledCount)) {
    if (!ofDelivery.has(service)) counts.set(method, (counts.get(method) ?? 0) + Number(count));
  }
  return counts;
}
