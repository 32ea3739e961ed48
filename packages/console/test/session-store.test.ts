import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import type { Session } from "../src/domain/session.ts";
import { SessionStore } from "../src/store/session-store.ts";

const now = new Date();
const session: Session = {
  identity: { issuer: "vidimus:link", subject: "ida" },
  sessionId: "s-1",
  name: "Ida",
  address: "",
  way: "link",
  authTime: now,
  tenantId: "demo",
  createdAt: now,
  lastSeenAt: now,
  from: "127.0.0.1",
  userAgent: "test",
};

test("a store knows a session's identity after finding the session, until a later search finds none", async () => {
  const database = testDatabaseName("sessions");
  await using mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "session-test" });
  const sessions = new SessionStore(mongo.db);
  await sessions.insert("cookie", session);
  expect(sessions.identityOf("cookie")).toBeUndefined();
  expect(await sessions.find("cookie", now)).toEqual(session);
  expect(sessions.identityOf("cookie")).toEqual(session.identity);
  expect(sessions.identityOf("other")).toBeUndefined();
  await new SessionStore(mongo.db).end("cookie");
  expect(await sessions.find("cookie", now)).toBeUndefined();
  expect(sessions.identityOf("cookie")).toBeUndefined();
});
