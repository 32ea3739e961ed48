import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMongod } from "@vidimus/devstack/backing/mongod";
import { userUrl } from "@vidimus/devstack/backing/database-users";
import type { BackingServer } from "@vidimus/devstack/backing/server";
import { projectDir } from "@vidimus/devstack/paths";
import { makeDatabaseAccess } from "@vidimus/devstack/stack/dev-access";
import { serviceNames } from "@vidimus/devstack/stack/program-names";
import { AuditLog } from "@vidimus/tenancy/audit/audit-log";
import { openMongo } from "@vidimus/kit/mongo/mongo";

let dir: string;
let folder: string;
let mongod: BackingServer;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "database-users-"));
  folder = join(dir, "users");
  const access = await makeDatabaseAccess(dir);
  mongod = await openMongod({ dataDir: join(dir, "data"), port: 0, logFile: join(dir, "mongod.log"), access });
});
afterAll(async () => {
  await mongod?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** Runs `npm run database-users`. */
async function createUsers(...args: readonly string[]) {
  const script = join(projectDir, "scripts/database-users/main.ts");
  const env = { ...process.env, MONGODB_ADMIN_URL: mongod.url };
  return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: "" }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

const urlOf = (service: string) => readFile(join(folder, `${service}-mongodb`), "utf8");

/** Runs a command as a user. Returns "ok", or the name of the refusal. */
async function attempt(url: string, database: string, command: object): Promise<string> {
  await using client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  return await client
    .db(database)
    .command(command)
    .then(
      () => "ok",
      ({ codeName, message }: { codeName?: string; message: string }) => codeName ?? message,
    );
}

const insert = { insert: "rows", documents: [{}] };
const find = { find: "rows" };

const databases = {
  gateway: "access",
  documents: "documents",
  phrases: "phrases",
  signing: "signing",
  delivery: "delivery",
};

/** Expects that each service can log in with its file and write its database. */
async function expectLogins(): Promise<void> {
  for (const service of serviceNames) {
    expect(await attempt(await urlOf(service), `vidimus_${databases[service]}`, insert)).toBe("ok");
  }
}

describe("npm run database-users", () => {
  it("creates a user for each service", async () => {
    const { code, stdout } = await createUsers(folder);
    expect([code, stdout.match(/^created /gm)?.length]).toEqual([0, 5]);
    await expectLogins();
  });

  it("writes files that only their owner can read", async () => {
    expect(await readdir(folder)).not.toEqual([]);
    for (const file of await readdir(folder)) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  it("lets a service write and read its own database, but no other service's", async () => {
    for (const service of serviceNames) {
      const url = await urlOf(service);
      for (const [owner, name] of Object.entries(databases)) {
        const outcome = owner === service ? "ok" : "Unauthorized";
        expect([service, name, await attempt(url, `vidimus_${name}`, insert)]).toEqual([service, name, outcome]);
        expect([service, name, await attempt(url, `vidimus_${name}`, find)]).toEqual([service, name, outcome]);
      }
    }
  });

  const everybodys = { aggregate: 1, pipeline: [{ $currentOp: { allUsers: true } }], cursor: {} };
  const root = [{ role: "root", db: "admin" }];
  it.each<[string, (service: string, own: string) => [database: string, command: object]]>([
    ["the stored users", () => ["admin", { find: "system.users" }]],
    ["the oplog", () => ["local", { find: "oplog.rs" }]],
    ["the operations of other users", () => ["admin", everybodys]],
    ["the role root", (service, own) => [own, { updateUser: service, roles: root }]],
    ["the creation of a user", (_service, own) => [own, { createUser: "eve", pwd: "x", roles: root }]],
  ])("refuses each service %s", async (_what, forbidden) => {
    for (const service of serviceNames) {
      const [database, command] = forbidden(service, `vidimus_${databases[service]}`);
      expect([service, await attempt(await urlOf(service), database, command)]).toEqual([service, "Unauthorized"]);
    }
  });

  it("lets a service only append to its audit log and read it", async () => {
    const url = await urlOf("delivery");
    const audit = "vidimus_delivery_audit";
    const entry = { _id: "acme/1", actor: "ida" };
    expect(await attempt(url, audit, { create: "entries" })).toBe("ok");
    expect(await attempt(url, audit, { insert: "entries", documents: [entry] })).toBe("ok");
    expect(await attempt(url, audit, { find: "entries" })).toBe("ok");
    const [q, expire] = [{ _id: entry._id }, { key: { at: 1 }, name: "expire", expireAfterSeconds: 0 }];
    const denied = {
      update: { update: "entries", updates: [{ q, u: { $set: { actor: "eve" } } }] },
      replace: { update: "entries", updates: [{ q, u: { actor: "eve" }, upsert: true }] },
      modify: { findAndModify: "entries", query: q, remove: true },
      delete: { delete: "entries", deletes: [{ q, limit: 1 }] },
      drop: { drop: "entries" },
      dropDatabase: { dropDatabase: 1 },
      "an index that lets rows expire": { createIndexes: "entries", indexes: [expire] },
      cap: { convertToCapped: "entries", size: 4096 },
      collMod: { collMod: "entries", validationLevel: "off" },
      "another collection": { insert: "others", documents: [{}] },
      "its role": { updateRole: "append", privileges: [] },
      out: { aggregate: "entries", pipeline: [{ $match: { _id: 0 } }, { $out: "entries" }], cursor: {} },
    };
    for (const [name, command] of Object.entries(denied)) {
      expect([name, await attempt(url, audit, command)]).toEqual([name, "Unauthorized"]);
    }
    const rename = { renameCollection: `${audit}.entries`, to: `${audit}.old` };
    expect(await attempt(url, "admin", rename)).toBe("Unauthorized");
    const merge = { into: { db: audit, coll: "entries" }, on: "_id", whenMatched: "replace" };
    const merging = { aggregate: "rows", pipeline: [{ $set: { _id: "acme/1" } }, { $merge: merge }], cursor: {} };
    expect(await attempt(url, "vidimus_delivery", merging)).toBe("Unauthorized");
    expect(await attempt(await urlOf("documents"), audit, { find: "entries" })).toBe("Unauthorized");
    await using admin = new MongoClient(mongod.url);
    expect(await admin.db(audit).collection("entries").find().toArray()).toEqual([entry]);
  });

  it("lets a service store a change and its audit entry in one transaction", async () => {
    const database = "vidimus_signing";
    const silent = { info: () => undefined };
    await using mongo = await openMongo({ url: await urlOf("signing"), database, appName: "test" });
    const audit = await AuditLog.open(mongo, silent);
    const by = { actor: "ida", role: "", identity: "", from: "", requestId: "", keyPrefix: "" };
    await audit.transact(async (session, record) => {
      await mongo.db.collection("changed").insertOne({}, { session });
      await record(by, { tenantId: "", action: "change", subject: "it", detail: {} });
    });
    expect(await mongo.db.collection("changed").countDocuments()).toBe(1);
    expect(await audit.list({ tenantId: "", actions: [], limit: 2 })).toMatchObject([{ actor: "ida", subject: "it" }]);
  });

  it("is named by the error when a user without the role for its audit log opens the log", async () => {
    await using admin = new MongoClient(mongod.url);
    const roles = [{ role: "readWrite", db: "plain" }];
    await admin.db("plain").command({ createUser: "plain", pwd: "x", roles });
    const plainUrl = userUrl(mongod.url, { user: "plain", password: "x", database: "plain" });
    await using plain = await openMongo({ url: plainUrl, database: "plain", appName: "test" });
    await expect(AuditLog.open(plain, { info: () => undefined })).rejects.toThrow("run npm run database-users");
  });

  it("changes no password when it is repeated", async () => {
    const before = await Promise.all(serviceNames.map(urlOf));
    expect((await createUsers(folder)).stdout.match(/^kept /gm)).toHaveLength(5);
    expect(await Promise.all(serviceNames.map(urlOf))).toEqual(before);
    await expectLogins();
  });

  it("renews with --renew the password of the named user and leaves another's valid", async () => {
    const [old, other] = [await urlOf("phrases"), await urlOf("documents")];
    expect((await createUsers(folder, "--renew", "phrases")).stdout).toMatch(/^renewed +vidimus_phrases/m);
    expect(await attempt(old, "vidimus_phrases", find)).toBe("AuthenticationFailed");
    expect(await attempt(await urlOf("phrases"), "vidimus_phrases", find)).toBe("ok");
    expect(await attempt(other, "vidimus_documents", find)).toBe("ok");
  });

  it("creates a user whose file an interrupted run has written", async () => {
    await using client = new MongoClient(mongod.url);
    await client.db("vidimus_signing").command({ dropUser: "signing" });
    expect((await createUsers(folder)).code).toBe(0);
    expect(await attempt(await urlOf("signing"), "vidimus_signing", find)).toBe("ok");
  });

  it("fails when users exist without a file in the folder, and leaves their passwords valid", async () => {
    const { code, stderr } = await createUsers(join(dir, "elsewhere"));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/users .*documents.* exist.*--renew documents/)]);
    await expectLogins();
  });

  it.each([
    [[], "one FOLDER is needed"],
    [["a", "b"], "one FOLDER is needed"],
    [["a", "--renew", "eve"], "--renew must be one of signing"],
    [["a", "--prefix", "x.y"], "--prefix must be"],
    [["a", "--admin"], "Unknown option '--admin'"],
  ])("refuses the arguments %j with a message and no stack trace", async (args, message) => {
    const { code, stderr } = await createUsers(...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

describe("a mongod with access control", () => {
  it("refuses a client without a password", async () => {
    const url = mongod.url.replace(/\/\/.*@/, "//").replace(/&?authSource=admin/, "");
    for (const database of ["admin", "local", "vidimus_documents"]) {
      expect(await attempt(url, database, find)).toBe("Unauthorized");
    }
    expect(await attempt(url, "admin", { listDatabases: 1 })).toBe("Unauthorized");
    const createUser = { createUser: "eve", pwd: "x", roles: ["root"] };
    expect(await attempt(url, "admin", createUser)).toBe("Unauthorized");
  });

  it("refuses a client with a wrong password", async () => {
    const url = mongod.url.replace(/\/\/.*@/, "//operator:guess@");
    expect(await attempt(url, "admin", find)).toBe("AuthenticationFailed");
  });
});
