import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { FakeDocuments, serve } from "./support/fake-documents.ts";
import { accessClient, bearer, newKey } from "./support/start-gateway.ts";

const documents = new FakeDocuments();
const lines: string[] = [];
let rpc: Awaited<ReturnType<typeof serve>>;
let child: ReturnType<typeof spawn>;
let grpcPort = 0;
let httpPort = 0;

beforeAll(async () => {
  rpc = await serve(documents.routes());
  child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
    env: {
      ...process.env,
      GRPC_PORT: "0",
      OPS_PORT: "0",
      HTTP_PORT: "0",
      LOG_LEVEL: "debug",
      MONGODB_URL: inject("mongoUrl"),
      MONGODB_DATABASE: testDatabaseName("access"),
      NATS_URL: inject("natsUrl"),
      DOCUMENTS_TARGET: `127.0.0.1:${rpc.port}`,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr!.on("data", (chunk) => lines.push(String(chunk)));
  const started = Promise.withResolvers<void>();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    lines.push(line);
    const entry = JSON.parse(line) as { msg: string; grpcPort: number; port: number };
    if (entry.msg === "public port open") httpPort = entry.port;
    if (entry.msg !== "started") return;
    ({ grpcPort } = entry);
    started.resolve();
  });
  await started.promise;
});

afterAll(async () => {
  if (child.exitCode === null) child.kill("SIGKILL");
  await rpc[Symbol.asyncDispose]();
});

/** Which of the secrets stand in a text. */
const found = (secrets: readonly string[], text: string) => secrets.filter((secret) => text.includes(secret));

test("a full run logs prefixes and request ids, and never a key, a query or a body; a planted secret would be found", async () => {
  const url = `http://127.0.0.1:${httpPort}/v1/documents`;
  const key = await newKey(accessClient(grpcPort), "acme");
  const bad = `vk_UgNOkUySViro_0lHN9aNQcNkMik3qGrkAs65wpwIEtEVzLxagRnzIFKn4F3eyj`;
  const marks = ["TITLE-MARK", "CURSOR-MARK", "PATH-MARK", "BROKEN-MARK"];
  const post = (token: string, body: string) =>
    fetch(url, { method: "POST", headers: { ...bearer(token), "content-type": "application/json" }, body });
  const body = JSON.stringify({ id: randomUUID(), type: "core/newswire", title: "TITLE-MARK" });
  const answers = [
    await post(key, body),
    await post(key, body),
    await post(bad, body),
    await post(key, `{"BROKEN-MARK`),
    await fetch(`${url}?type=core/tag&cursor=CURSOR-MARK`, { headers: bearer(key) }),
    await fetch(`${url}/PATH-MARK`, { headers: bearer(key) }),
  ];
  documents.listFailure = new Error("a bug");
  answers.push(await fetch(`${url}?type=core/tag`, { headers: bearer(key) }));
  expect(answers.map(({ status }) => status)).toEqual([201, 409, 401, 400, 200, 404, 500]);
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number];
  expect(code).toBe(0);
  const log = lines.join("\n");
  const secrets = [key.slice(16), bad.slice(16), key, bad, ...marks];
  expect(found(secrets, log)).toEqual([]);
  for (const { headers } of answers) expect(log).toContain(headers.get("x-request-id"));
  expect(log).toContain(`"keyPrefix":"${key.split("_")[1]}"`);
  expect(found(secrets, `${log}\n{"planted":"${key}"}`)).toEqual([key.slice(16), key]);
});
