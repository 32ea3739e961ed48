import { afterAll, beforeAll, expect, test } from "vitest";
import { openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";

const opened = new AsyncDisposableStack();
let world: LinkedConsole;
let origin: string;

beforeAll(async () => {
  const gateway = opened.use(await openGateway());
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  world = opened.use(await openLinkedConsole(gateway.grpcPort));
  origin = world.origin;
});
afterAll(() => opened.disposeAsync());

function post(path: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams(form);
  const own = "sec-fetch-site" in headers || "origin" in headers ? {} : { origin };
  return fetch(`${origin}${path}`, { method: "POST", body, redirect: "manual", headers: { ...own, ...headers } });
}

function cookieOf(answer: Response): string {
  return (
    answer.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith(world.sessionName))
      ?.split(";")[0] ?? ""
  );
}

test("showing the newsroom of a code does not use the code up", async () => {
  const code = await world.newCode();
  for (let times = 0; times < 2; times += 1) {
    const confirm = await post("/sign-in", { code });
    expect([confirm.status, await confirm.text()]).toEqual([200, expect.stringContaining("Demo newsroom")]);
  }
  expect((await post("/sign-in/confirm", { code })).status).toBe(303);
});

test("a code signs in once", async () => {
  const code = await world.newCode();
  const signedIn = await post("/sign-in/confirm", { code });
  expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/"]);
  const cookie = cookieOf(signedIn);
  expect(cookie).toMatch(new RegExp(`^vidimus_session_${world.port}=[\\w-]{43}$`));
  const home = await fetch(origin, { headers: { cookie } });
  expect([home.status, await home.text()]).toEqual([200, expect.stringContaining("You are owner here.")]);
  expect((await post("/sign-in/confirm", { code })).status).toBe(400);
});

test("of two simultaneous uses of a code only one succeeds", async () => {
  const code = await world.newCode();
  const answers = await Promise.all([post("/sign-in/confirm", { code }), post("/sign-in/confirm", { code })]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
});

test("a sign-in opens a session with a new id, not with one that was planted in the browser", async () => {
  const planted = `vidimus_session_${world.port}=${"x".repeat(43)}`;
  const answer = await post("/sign-in/confirm", { code: await world.newCode() }, { cookie: planted, origin });
  expect(cookieOf(answer)).toMatch(/=[\w-]{43}$/);
  expect(cookieOf(answer)).not.toBe(planted);
  const home = await fetch(origin, { headers: { cookie: planted }, redirect: "manual" });
  expect([home.status, home.headers.get("location")]).toEqual([303, "/sign-in"]);
});

test.each(["//attacker.example", "/.//attacker.example", "/\\attacker.example", "https://attacker.example/"])(
  "a sign-in that should return to %s, another host, leads to the start",
  async (returnTo) => {
    const signedIn = await post("/sign-in/confirm", { code: await world.newCode(), return: returnTo });
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/"]);
  },
);

test("a form is refused unless its headers say that it comes from the console's own origin", async () => {
  const statuses = await Promise.all([
    post("/sign-out", {}, { origin: "https://attacker.example" }),
    post("/sign-out", {}, { "sec-fetch-site": "cross-site", origin }),
    fetch(`${origin}/sign-out`, { method: "POST", body: new URLSearchParams() }),
    post("/sign-out", {}, { "sec-fetch-site": "same-origin" }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 200]);
});
