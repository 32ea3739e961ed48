import { expect, test } from "vitest";
import { Readiness } from "../readiness.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { type OpsPage, startOpsServer } from "./ops-server.ts";

const sound = () => Promise.resolve();
const fails = (reason: string) => () => Promise.reject(new Error(reason));

/** Opens a server whose checks may be replaced, and asks it. */
async function open() {
  const [readiness, pages] = [new Readiness(), new Map<string, OpsPage>()];
  const checks = { check: sound, checkDegraded: sound };
  const server = await startOpsServer({
    host: "127.0.0.1",
    port: 0,
    readiness,
    metrics: createMetrics("test"),
    check: () => checks.check(),
    checkDegraded: () => checks.checkDegraded(),
    pages,
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: answer.status, type: answer.headers.get("content-type"), body: await answer.text() };
  };
  const ready = async () => {
    const { status, body } = await ask("/readyz");
    return [status, JSON.parse(body)];
  };
  return { readiness, pages, checks, ask, ready, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("a process is ready while its check passes, and otherwise says why it is not ready", async () => {
  await using ops = await open();
  expect(await ops.ready()).toEqual([200, { ok: true }]);
  ops.checks.check = fails("no primary");
  expect(await ops.ready()).toEqual([503, { ok: false, reason: "no primary" }]);
  expect(ops.readiness.isReady()).toBe(false);
  ops.checks.check = sound;
  expect(await ops.ready()).toEqual([200, { ok: true }]);
});

test("a process that lacks something stays ready, and says what it lacks", async () => {
  await using ops = await open();
  ops.checks.checkDegraded = fails("no broker");
  expect(await ops.ready()).toEqual([200, { ok: true, degraded: "no broker" }]);
});

test("a process that stops is alive and not ready", async () => {
  await using ops = await open();
  ops.readiness.drain();
  expect(await ops.ready()).toEqual([503, { ok: false, reason: "shutting down" }]);
  expect(await ops.ask("/livez")).toMatchObject({ status: 200, body: '{"ok":true}' });
});

test("metrics are served", async () => {
  await using ops = await open();
  expect(await ops.ask("/metrics")).toMatchObject({ status: 200, body: expect.stringContaining("# HELP") });
});

test("a path is answered with 404 until its page is added, and then with the page", async () => {
  await using ops = await open();
  expect(await ops.ask("/docs")).toMatchObject({ status: 404 });
  ops.pages.set("/docs", { type: "text/html; charset=utf-8", body: "<p>Docs" });
  expect(await ops.ask("/docs")).toEqual({ status: 200, type: "text/html; charset=utf-8", body: "<p>Docs" });
});
