import { type MongoCommand, mongoCommands } from "@vidimus/kit/mongo/mongo";

export interface CommandCounter extends Disposable {
  /** Returns the commands that the service sent during `work`, in order, each like "find heads". */
  during(work: () => Promise<unknown>): Promise<string[]>;
}

/**
 * Counts the commands of a service in this process. Call it before the service starts: clients that
 * are open already report nothing.
 */
export function countCommands(appName: string): CommandCounter {
  const seen: string[] = [];
  const note = (message: unknown) => {
    const { appName: sender, name, collection } = message as MongoCommand;
    if (sender === appName) seen.push(`${name} ${collection}`.trim());
  };
  mongoCommands.subscribe(note);
  return {
    async during(work) {
      const from = seen.length;
      await work();
      return seen.slice(from);
    },
    [Symbol.dispose]() {
      mongoCommands.unsubscribe(note);
    },
  };
}
