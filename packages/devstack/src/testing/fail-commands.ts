import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import { MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";

/** What fails, and how, as MongoDB's fail point `failCommand` takes it. */
interface FailedCommands {
  readonly failCommands: readonly string[];
  /** Name of the connections whose commands fail. */
  readonly appName?: string;
  /** `<database>.<collection>` of the commands that fail. */
  readonly namespace?: string;
  readonly errorCode?: number;
  readonly errorLabels?: readonly string[];
  readonly closeConnection?: boolean;
  readonly blockConnection?: boolean;
  readonly blockTimeMS?: number;
}

type Mode = "alwaysOn" | { readonly times: number } | { readonly skip: number };

interface RunningFault extends AsyncDisposable {
  /** Ends the fault. @returns how many commands it has met */
  end(): Promise<number>;
}

/**
 * Makes commands of the shared mongod fail until the returned fault is ended or disposed of. A
 * server has one fail point for commands, so a call waits until no other file of tests uses it.
 */
export async function failCommands(url: string, data: FailedCommands, mode: Mode): Promise<RunningFault> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(await MongoClient.connect(url));
  const locks = client.db("fail_points").collection<{ _id: string }>("locks");
  const configure = (command: object) => client.db("admin").command({ configureFailPoint: "failCommand", ...command });
  while (!(await isFirst(locks.insertOne({ _id: "failCommand" })))) await pause(20);
  let met: number | undefined;
  const end = async () => {
    if (met !== undefined) return met;
    met = Number((await configure({ mode: "off" }))["count"]);
    await locks.deleteOne({ _id: "failCommand" });
    return met;
  };
  stack.defer(async () => void (await end()));
  await configure({ mode, data });
  const running = stack.move();
  return { end, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** False when the insert is refused because of a row with the same id. */
async function isFirst(insert: Promise<unknown>): Promise<boolean> {
  try {
    await insert;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}
