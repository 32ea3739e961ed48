import { MemberService } from "@vidimus/contracts/vidimus/access/v1/member_service";
import { pickFreePort } from "@vidimus/devstack/port-guard";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { readConfig } from "../src/config.ts";
import { startConsole } from "../src/console.ts";

let gateway: Awaited<ReturnType<typeof openGateway>>;
let running: AsyncDisposable;
let port: number;
let origin: string;

beforeAll(async () => {
  gateway = await openGateway();
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  port = await pickFreePort();
  origin = `http://127.0.0.1:${port}`;
  running = await startConsole(
    readConfig({
      MONGODB_URL: inject("mongoUrl"),
      MONGODB_DATABASE: testDatabaseName("console"),
      OPS_PORT: "0",
      CONSOLE_PORT: String(port),
      ACCESS_TARGET: `127.0.0.1:${gateway.grpcPort}`,
      LOG_LEVEL: "silent",
    }),
  );
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

async function newCode(): Promise<string> {
  using members = openRpcClient(MemberService, { target: `127.0.0.1:${gateway.grpcPort}` });
  const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "ada" } };
  return (await members.createSignInLink({ tenantId: "demo" }, asOwner)).code;
}

function post(path: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams(form);
  const own = "sec-fetch-site" in headers || "origin" in headers ? {} : { origin };
  return fetch(`${origin}${path}`, { method: "POST", body, redirect: "manual", headers: { ...own, ...headers } });
}

function cookieOf(answer: Response): string {
  return (
    answer.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith("vidimus_session_"))
      ?.split(";")[0] ?? ""
  );
}

test("a code is shown without being used up, signs in once, and leads to a page that names person and role", async () => {
  const code = await newCode();
  const confirm = await post("/sign-in", { code });
  expect([confirm.status, await confirm.text()]).toEqual([200, expect.stringContaining("Demo newsroom")]);
  const signedIn = await post("/sign-in/confirm", { code });
  expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/"]);
  const cookie = cookieOf(signedIn);
  expect(cookie).toMatch(new RegExp(`^vidimus_session_${port}=[\\w-]{43}$`));
  const home = await fetch(origin, { headers: { cookie } });
  expect([home.status, await home.text()]).toEqual([200, expect.stringContaining("You are owner here.")]);
  expect((await post("/sign-in/confirm", { code })).status).toBe(400);
});

test("of two uses of a code at once one opens a session", async () => {
  const code = await newCode();
  const answers = await Promise.all([post("/sign-in/confirm", { code }), post("/sign-in/confirm", { code })]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
});

test("a session id that was planted before the sign-in is not the one after it", async () => {
  const planted = `vidimus_session_${port}=${"x".repeat(43)}`;
  const answer = await post("/sign-in/confirm", { code: await newCode() }, { cookie: planted, origin });
  expect(cookieOf(answer)).toMatch(/=[\w-]{43}$/);
  expect(cookieOf(answer)).not.toBe(planted);
  const home = await fetch(origin, { headers: { cookie: planted }, redirect: "manual" });
  expect([home.status, home.headers.get("location")]).toEqual([303, "/sign-in"]);
});

test("a form of another origin, and one without Origin, are refused", async () => {
  const statuses = await Promise.all([
    post("/sign-out", {}, { origin: "https://attacker.example" }),
    post("/sign-out", {}, { "sec-fetch-site": "cross-site", origin }),
    fetch(`${origin}/sign-out`, { method: "POST", body: new URLSearchParams() }),
    post("/sign-out", {}, { "sec-fetch-site": "same-origin" }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 200]);
});
