import { toJson } from "@bufbuild/protobuf";
import { AuditEntrySchema } from "@vidimus/contracts/vidimus/audit/v1/audit_entry";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { spawnGateway } from "./support/spawn-gateway.ts";
import { refusal, someone } from "./support/people.ts";
import { accessClient, bearer, memberClient, newKey } from "./support/start-gateway.ts";

const documents = new FakeDocuments();
let rpc: Awaited<ReturnType<typeof serve>>;
let gateway: Awaited<ReturnType<typeof spawnGateway>>;

beforeAll(async () => {
  rpc = await serve(documents.routes());
  gateway = await spawnGateway({ LOG_LEVEL: "debug", DOCUMENTS_TARGET: `127.0.0.1:${rpc.port}` });
});

afterAll(async () => {
  await gateway.stop();
  await rpc[Symbol.asyncDispose]();
});

const found = (secrets: readonly string[], text: string) => secrets.filter((secret) => text.includes(secret));

test("a code of an invitation or a sign-in link is in no log, metric, error, audit entry or database row", async () => {
  const access = accessClient(gateway.grpcPort);
  await access.createTenant({ tenantId: "people", name: "People" });
  const members = memberClient(gateway.grpcPort);
  const kari = someone("kari");
  const { code: invitation } = await members.inviteMember({ tenantId: "people", roles: ["owner"], note: "Kari" });
  const { code: link } = await members.createSignInLink({ tenantId: "people" });
  await members.getInvitation({ code: invitation });
  await members.acceptInvitation({ code: invitation, ...kari });
  await members.redeemSignInLink({ code: link });
  const wrong = `${link.slice(0, -4)}AAAA`;
  const refused = await Promise.all([
    refusal(members.acceptInvitation({ code: invitation, ...someone("mallory") })),
    refusal(members.redeemSignInLink({ code: link })),
    refusal(members.redeemSignInLink({ code: wrong })),
    refusal(members.getInvitation({ code: wrong })),
  ]);
  const { entries } = await access.listAuditEntries({ tenantId: "people" });
  expect(entries.map(({ action }) => action)).toEqual(
    expect.arrayContaining(["invite_member", "accept_invitation", "create_sign_in_link", "redeem_sign_in_link"]),
  );
  const metrics = await (await fetch(`http://127.0.0.1:${gateway.opsPort}/metrics`)).text();
  await using mongo = await openMongo({ url: inject("mongoUrl"), database: gateway.database, appName: "test" });
  const collections = await mongo.db.listCollections().toArray();
  const rows = await Promise.all(collections.map(({ name }) => mongo.db.collection(name).find().toArray()));
  const told = [
    gateway.lines,
    refused.map((error) => [error.message, error.details]),
    entries.map((entry) => toJson(AuditEntrySchema, entry)),
    metrics,
    rows,
  ];
  const codes = [invitation, link, wrong];
  const text = JSON.stringify(told);
  expect(found(codes, text)).toEqual([]);
  expect(text).toContain("redeem_sign_in_link");
  expect(found(codes, `${text}${link}`)).toEqual([link]);
});

describe("the log of requests that succeed and that fail", () => {
  const bad = `vk_UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3eyj`;
  let key: string;
  let answers: Response[];
  let log: string;

  beforeAll(async () => {
    const url = `http://127.0.0.1:${gateway.httpPort}/v1/documents`;
    key = await newKey(accessClient(gateway.grpcPort), "acme");
    const post = (token: string, body: string) =>
      fetch(url, { method: "POST", headers: { ...bearer(token), "content-type": "application/json" }, body });
    const body = JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "TITLE-MARK" });
    answers = [
      await post(key, body),
      await post(key, body),
      await post(bad, body),
      await post(key, `{"BROKEN-MARK`),
      await fetch(`${url}?type=core/tag&cursor=CURSOR-MARK`, { headers: bearer(key) }),
      await fetch(`${url}/lost?x=QUERY-MARK`, { headers: bearer(key) }),
    ];
    documents.listFailure = new Error("a bug");
    answers.push(await fetch(`${url}?type=core/tag`, { headers: bearer(key) }));
    expect(answers.map(({ status }) => status)).toEqual([201, 409, 401, 400, 200, 404, 500]);
    expect(await gateway.stop()).toBe(0);
    log = gateway.lines.join("\n");
  });

  test("has no key, no query and no body", () => {
    const marks = ["TITLE-MARK", "CURSOR-MARK", "QUERY-MARK", "BROKEN-MARK"];
    const secrets = [key.slice(16), bad.slice(16), key, bad, ...marks];
    expect(found(secrets, log)).toEqual([]);
    expect(found(secrets, `${log}\n{"planted":"${key}"}`)).toEqual([key.slice(16), key]);
  });

  test("has the id of each request", () => {
    for (const { headers } of answers) expect(log).toContain(headers.get("x-request-id"));
  });

  test("has the codes of the failures", () => {
    for (const code of ["CONFLICT", "UNAUTHORIZED", "INVALID_PAYLOAD", "NOT_FOUND", "INTERNAL"]) {
      expect(log).toContain(`"code":"${code}"`);
    }
  });

  test("has the path of a 404", () => {
    expect(log).toContain('"path":"/v1/documents/lost"');
  });

  test("names the key by its prefix", () => {
    expect(log).toContain(`"keyPrefix":"${key.split("_")[1]}"`);
  });
});
