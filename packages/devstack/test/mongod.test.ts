import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { expect, test } from "vitest";
import { openMongod } from "../src/backing/mongod.ts";
import type { MongodAccess } from "../src/backing/replica-set.ts";
import type { BackingServer } from "../src/backing/server.ts";
import { DevstackError, PortTakenError } from "../src/errors.ts";
import { pickFreePort } from "../src/port-guard.ts";
import { describeProcess } from "../src/process-info.ts";
import { makeDatabaseAccess } from "../src/stack/dev-access.ts";

interface Folder extends AsyncDisposable {
  readonly dir: string;
  readonly dataDir: string;
  /** Disposed with the folder. */
  readonly opened: AsyncDisposableStack;
  /** Starts a mongod on the data folder. */
  open(port?: number, access?: MongodAccess): Promise<BackingServer>;
}

/** An empty folder for the data of a mongod. */
async function openFolder(): Promise<Folder> {
  const folder = new AsyncDisposableStack();
  const dir = folder.adopt(await mkdtemp(join(tmpdir(), "mongod-test-")), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const dataDir = join(dir, "data");
  const opened = folder.use(new AsyncDisposableStack());
  return {
    dir,
    dataDir,
    opened,
    open: async (port = 0, access) =>
      opened.use(await openMongod({ dataDir, port, logFile: join(dir, "mongod.log"), access })),
    [Symbol.asyncDispose]: () => folder.disposeAsync(),
  };
}

async function insertRow(url: string): Promise<void> {
  await using client = new MongoClient(url);
  await client
    .db("kept")
    .collection("rows")
    .insertOne({}, { writeConcern: { w: "majority", j: true } });
}

async function countRows(url: string): Promise<number> {
  await using client = new MongoClient(url);
  return await client.db("kept").collection("rows").countDocuments();
}

const portOf = (server: BackingServer) => Number(new URL(server.url).port);

// The tests run at the same time, because much of a start and a stop is waiting.
test.concurrent("a replica set stopped on one port is writable on another, with its rows", async () => {
  await using folder = await openFolder();
  const { open } = folder;
  const first = await open();
  await insertRow(first.url);
  await first[Symbol.asyncDispose]();
  expect(await first.exited).toEqual({ code: 0, signal: null });
  const second = await open();
  expect(portOf(second)).not.toBe(portOf(first));
  await insertRow(second.url);
  expect(await countRows(second.url)).toBe(2);
});

test.concurrent("a start succeeds when mongod listens long before it has loaded its configuration", async () => {
  await using folder = await openFolder();
  const { opened, open } = folder;
  const first = await open();
  await insertRow(first.url);
  await first[Symbol.asyncDispose]();
  // mongod asks the server at the old address in its configuration whether that server is this
  // mongod. Once mongod knows that the server is another one, mongod closes all connections.
  const silent = createServer((socket) => void setTimeout(() => socket.destroy(), 500));
  opened.use(silent.listen(portOf(first), "127.0.0.1"));
  await once(silent, "listening");
  const second = await open();
  expect(await countRows(second.url)).toBe(1);
});

test.concurrent("a mongod killed with SIGKILL starts again on the same port with its acknowledged row", async () => {
  await using folder = await openFolder();
  const { open } = folder;
  const first = await open();
  await insertRow(first.url);
  process.kill(first.pid!, "SIGKILL");
  expect(await first.exited).toEqual({ code: null, signal: "SIGKILL" });
  const second = await open(portOf(first));
  expect(second.url).toBe(first.url);
  expect(await countRows(second.url)).toBe(1);
});

test.concurrent("each start may change the access control of a data folder: on, other passwords, off", async () => {
  await using folder = await openFolder();
  const { dir, open } = folder;
  const plain = await open();
  await insertRow(plain.url);
  await plain[Symbol.asyncDispose]();

  const guarded = await open(0, await makeDatabaseAccess(dir));
  const anonymous = guarded.url.replace(/\/\/.*@/, "//").replace(/&?authSource=\w+/, "");
  await expect(countRows(anonymous)).rejects.toThrow("requires authentication");
  await insertRow(guarded.url);
  // By default MongoDB lets every process of this machine create the first user.
  await using operator = new MongoClient(guarded.url);
  await operator.db("admin").command({ dropUser: "operator" });
  await using nobody = new MongoClient(anonymous);
  const eve = { createUser: "eve", pwd: "x", roles: ["root"] };
  await expect(nobody.db("admin").command(eve)).rejects.toThrow("requires authentication");
  await guarded[Symbol.asyncDispose]();

  const again = await open(portOf(guarded), await makeDatabaseAccess(dir));
  await expect(countRows(guarded.url)).rejects.toThrow("Authentication failed");
  expect(await countRows(again.url)).toBe(2);
  await again[Symbol.asyncDispose]();

  expect(await countRows((await open()).url)).toBe(2);
});

test.concurrent("a second start on a data folder in use is refused and leaves the first server writable", async () => {
  await using folder = await openFolder();
  const { dataDir, open } = folder;
  const first = await open();
  const refusal = expect(open()).rejects;
  await refusal.toThrow(DevstackError);
  await refusal.toThrow(
    `${dataDir} is in use by mongod ${first.pid}, a child of process ${process.pid}; stop that first`,
  );
  await insertRow(first.url);
});

test.concurrent("a start takes over the folder and port of a mongod whose owner has ended", async () => {
  await using folder = await openFolder();
  const { dataDir, open } = folder;
  const orphan = await open();
  await insertRow(orphan.url);
  await writeFile(join(dataDir, "owner.pid"), "4194304\n"); // larger than the largest pid
  const next = await open(portOf(orphan));
  expect(await orphan.exited).toEqual({ code: 0, signal: null });
  expect(await countRows(next.url)).toBe(1);
});

test.concurrent("a start replaces a mongod whose parent was killed, and keeps its rows", async () => {
  await using folder = await openFolder();
  const { dir, dataDir, open } = folder;
  const options = JSON.stringify({ dataDir, port: 0, logFile: join(dir, "mongod.log") });
  const script = `
    const { openMongod } = await import(${JSON.stringify(import.meta.resolve("../src/backing/mongod.ts"))});
    const { url, pid } = await openMongod(${options});
    process.stdout.write(JSON.stringify({ url, pid }));`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(parent, "exit");
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const orphan = JSON.parse(said.toString()) as { url: string; pid: number };
  await insertRow(orphan.url);
  parent.kill("SIGKILL");
  await closed;
  const next = await open();
  expect(await describeProcess(orphan.pid)).toBeUndefined();
  expect(await countRows(next.url)).toBe(1);
});

test.concurrent("a start leaves a process alone that is no mongod but has the pid in mongod.lock", async () => {
  await using folder = await openFolder();
  const { dataDir, open } = folder;
  const first = await open();
  await first[Symbol.asyncDispose]();
  await writeFile(join(dataDir, "mongod.lock"), `${process.pid}\n`);
  await open();
});

test.concurrent("a taken port is refused before mongod starts, with the variable that changes the port", async () => {
  await using folder = await openFolder();
  const { dir, opened, open } = folder;
  const port = await pickFreePort();
  const listener = opened.use(createServer().listen(port, "127.0.0.1"));
  await once(listener, "listening");
  const refusal = expect(open(port)).rejects;
  await refusal.toThrow(PortTakenError);
  await refusal.toThrow(/set MONGODB_PORT to another$/);
  await expect(readFile(join(dir, "mongod.log"))).rejects.toThrow("ENOENT");
});

test.concurrent("a mongod that ends at once is reported with the end of its log", async () => {
  await using folder = await openFolder();
  const { dir, dataDir } = folder;
  const binary = join(dir, "mongod");
  await writeFile(binary, "#!/bin/sh\necho the disk is on fire\nexit 14\n", { mode: 0o755 });
  const start = openMongod({ dataDir, port: 0, logFile: join(dir, "mongod.log"), binary });
  await expect(start).rejects.toThrow(/^mongod did not start: ended with code 14; [^]*the disk is on fire$/);
});
