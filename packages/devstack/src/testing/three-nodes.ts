import { MongoClient } from "mongodb";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findBinary } from "../backing/find-binary.ts";
import { replicaSetName } from "../backing/replica-set.ts";
import { type BackingServer, launch, waitForListener } from "../backing/server.ts";
import { openTestFolder } from "./test-folder.ts";

interface SetNode {
  readonly pid: number | undefined;
  /** Runs an administrative command on this node, primary or not. */
  command(command: object): Promise<Record<string, unknown>>;
}

/** A replica set of three nodes on 127.0.0.1 with fail points enabled. */
export interface ThreeNodes extends AsyncDisposable {
  readonly url: string;
  /** The first primary. */
  readonly first: SetNode;
  /** Becomes the primary when the first steps down. */
  readonly second: SetNode;
}

/**
 * Starts a replica set in a temporary folder. The third node votes and acknowledges writes, and is
 * never elected.
 */
export async function openThreeNodes(): Promise<ThreeNodes> {
  await using stack = new AsyncDisposableStack();
  const dir = stack.use(openTestFolder("set")).path;
  const binary = await findBinary("mongod");
  const servers: BackingServer[] = [];
  for (const name of ["first", "second", "third"]) servers.push(stack.use(await openNode(binary, join(dir, name))));
  const hosts = servers.map(({ url }) => url);
  const clients = hosts.map((host) => stack.use(new MongoClient(`mongodb://${host}/?directConnection=true`)));
  const [first, second] = clients.map((client, at) => toNode(client, servers[at]?.pid));
  if (!first || !second) throw new TypeError("a set of three has a first and a second node");
  const members = hosts.map((host, at) => ({ _id: at, host, priority: 2 - at }));
  // With chaining a node may replicate from another node that a test delays.
  const settings = { electionTimeoutMillis: 2_000, chainingAllowed: false };
  await first.command({ replSetInitiate: { _id: replicaSetName, members, settings } });
  await untilComplete(first);
  const opened = stack.move();
  const url = `mongodb://${hosts.join(",")}/?replicaSet=${replicaSetName}`;
  return { url, first, second, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openNode(binary: string, dataDir: string): Promise<BackingServer> {
  await mkdir(dataDir);
  return launch({
    name: "mongod",
    binary,
    args: (port) => nodeArgs(dataDir, port),
    port: 0,
    logFile: `${dataDir}.log`,
    ready: waitForListener,
    url: (port) => `127.0.0.1:${port}`,
  });
}

function nodeArgs(dataDir: string, port: number): string[] {
  const server = ["--dbpath", dataDir, "--port", String(port), "--bind_ip", "127.0.0.1", "--nounixsocket"];
  const size = ["--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "64"];
  // By default a primary waits 15 s for a successor when it gets SIGTERM.
  const stop = "shutdownTimeoutMillisForSignaledShutdown=100";
  const parameters = ["diagnosticDataCollectionEnabled=false", "enableTestCommands=1", stop];
  return [...server, "--replSet", replicaSetName, ...size, ...parameters.flatMap((each) => ["--setParameter", each])];
}

function toNode(client: MongoClient, pid: number | undefined): SetNode {
  return { pid, command: (command) => client.db("admin").command(command) };
}

/** Waits until the first node is the primary and the others have copied its data. */
async function untilComplete(first: SetNode): Promise<void> {
  for (;;) {
    const { members } = (await first.command({ replSetGetStatus: 1 })) as { members: { stateStr: string }[] };
    const states = members.map(({ stateStr }) => stateStr).join(" ");
    if (states === "PRIMARY SECONDARY SECONDARY") return;
    await pause(50);
  }
}
