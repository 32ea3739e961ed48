import { type CommandCounter, countCommands } from "@vidimus/devstack/testing/count-commands";
import type { Constellation } from "@vidimus/devstack/testing/constellation";

/** What an operation cost in messages. */
export interface Messages {
  /** RPCs that documents answered: "BatchCreateDocuments". */
  readonly rpcs: readonly string[];
  /** Commands that documents sent to MongoDB: "find heads". */
  readonly commands: readonly string[];
}

/** Counts the messages of an operation. Open it before the constellation. */
export class MessageCounter implements Disposable {
  readonly #commands: CommandCounter = countCommands("vidimus-documents");

  /**
   * Runs `work`, and answers the messages that it caused. Delivery's, which come whenever a
   * snapshot is pending, are left out.
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

const handledCount = /^vidimus_rpc_handled_seconds_count\{.*?\.(\w+)\/(\w+)".*\} (\d+)$/gm;

/** How often each method was handled, from the service's own metrics. */
async function handled(ops: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, service, method = "", count] of text.matchAll(handledCount)) {
    if (service !== "SnapshotFeedService") counts.set(method, (counts.get(method) ?? 0) + Number(count));
  }
  return counts;
}
