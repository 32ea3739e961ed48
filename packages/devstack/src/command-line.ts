import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { DevstackError } from "./errors.ts";
import { stateDir } from "./paths.ts";
import { parseReplicas, type ReplicaCounts } from "./stack/replicas.ts";

/** The options after `npm start --`; `npm stop --` takes `state` only. */
interface Options {
  /** Deletes data, keys, certificates, grants and logs before the start. */
  readonly fresh: boolean;
  /** Makes certificates; then every door refuses a caller without one. */
  readonly mtls: boolean;
  readonly replicas: ReplicaCounts;
  /** Folder of data, keys, logs and dev.json; `.vidimus/` by default. */
  readonly state: string;
}

const written: Readonly<Record<keyof Options, string>> = {
  fresh: "--fresh",
  mtls: "--mtls",
  replicas: "--replicas SERVICE=COUNT,…",
  state: "--state FOLDER",
};

/**
 * Reads the command line of this process. An option that is not given has its default.
 *
 * @param known the options that the command has
 * @throws DevstackError listing the known options, when an option is unknown, or its value is
 * missing or malformed
 */
export function readOptions(known: readonly (keyof Options)[]): Options {
  try {
    const { values } = parseArgs({
      options: {
        fresh: { type: "boolean" },
        mtls: { type: "boolean" },
        replicas: { type: "string" },
        state: { type: "string" },
      },
    });
    const unknown = (["fresh", "mtls", "replicas", "state"] as const).find(
      (name) => values[name] !== undefined && !known.includes(name),
    );
    if (unknown) throw new Error(`Unknown option '--${unknown}'`);
    const state = values.state === undefined ? stateDir : resolve(values.state);
    const replicas = values.replicas === undefined ? {} : parseReplicas(values.replicas);
    return { fresh: values.fresh ?? false, mtls: values.mtls ?? false, replicas, state };
  } catch (error) {
    const options = known.map((name) => written[name]).join(", ");
    throw new DevstackError(`${error instanceof Error ? error.message : String(error)}; there is ${options}`);
  }
}

/**
 * Prints the reason of a failed command, for a DevstackError without its stack. Sets exit code 1.
 */
export function fail(error: unknown): void {
  console.error(error instanceof DevstackError ? error.message : error);
  process.exitCode = 1;
}
