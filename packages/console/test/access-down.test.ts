/** What people see while the platform does not answer, and once it does again. */
import { DomainError } from "@vidimus/kit/errors";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { MemberStore } from "../../../services/gateway/src/store/member-store.ts";
import { linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { Browser } from "./support/browser.ts";
import { type LinkedConsole, openLinkedConsole } from "./support/linked-console.ts";

describe("an outage of access", () => {
  const opened = new AsyncDisposableStack();
  const [ada, grace] = [new Browser(), new Browser()];
  let gateway: Awaited<ReturnType<typeof openGateway>>;
  let console: LinkedConsole;
  let code: string;
  const at = (path: string) => `${console.origin}${path}`;

  beforeAll(async () => {
    gateway = await openGateway();
    await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
    console = opened.use(await openLinkedConsole(gateway.grpcPort));
    code = await console.newCode("later");
    for (const browser of [ada, grace]) await console.signIn(browser);
    await gateway[Symbol.asyncDispose]();
  });
  afterAll(() => opened.disposeAsync());

  test("is answered with 503 on pages that need access", async () => {
    const pages = [
      await ada.open(at("/")),
      await ada.open(at("/sessions")),
      await ada.submit(at("/tenant"), { tenant: "demo" }),
      await ada.submit(at("/sign-in"), { code }),
      await ada.submit(at("/sign-in/confirm"), { code }),
    ];
    for (const { status, text } of pages) {
      expect([status, text]).toEqual([503, expect.stringContaining("The platform does not answer")]);
      expect(text).not.toContain('http-equiv="refresh"');
    }
  });

  test("leaves the sign-in page at 200", async () => {
    expect((await ada.open(at("/sign-in"))).status).toBe(200);
  });

  test("lets people sign out", async () => {
    expect((await grace.submit(at("/sign-out"))).text).toContain("You are signed out");
    expect((await grace.open(at("/"))).url.pathname).toBe("/sign-in");
  });

  test("leaves a session valid, in which the newsroom opens again once access is back", async () => {
    const { config, grpcPort } = gateway;
    opened.use(await openGateway({ ...config, grpcPort }));
    await vi.waitFor(async () => expect((await ada.open(at("/"))).text).toContain("Demo newsroom"), 5_000);
  });

  test("leaves a one-time code valid that was tried during it", async () => {
    expect((await grace.submit(at("/sign-in/confirm"), { code })).text).toContain("later");
  });
});

describe("a member's removal", () => {
  const opened = new AsyncDisposableStack();
  const ada = new Browser();
  let gateway: Awaited<ReturnType<typeof openGateway>>;
  let console: LinkedConsole;
  const page = (path: string) => `${console.origin}/t/demo/members${path}`;
  const removal = `/${personActor({ issuer: linkIssuer, subject: "lena" })}/remove`;
  const isListed = async () => (await ada.open(page(""))).text.includes(removal);

  beforeAll(async () => {
    gateway = opened.use(await openGateway());
    await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
    console = opened.use(await openLinkedConsole(gateway.grpcPort));
    await console.signIn(ada, "ada");
  });
  beforeEach(() => console.signIn(new Browser(), "lena"));
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => opened.disposeAsync());

  test("that access cannot make is 503, and the same form removes the member later", async () => {
    const gone = new DomainError("unavailable", "the database cannot be reached");
    vi.spyOn(MemberStore.prototype, "remove").mockRejectedValueOnce(gone);
    const { status, text } = await ada.submit(page(removal));
    expect([status, text]).toEqual([503, expect.stringContaining("The platform does not answer")]);
    expect(text).toContain("see first whether it has taken effect");
    expect(await isListed()).toBe(true);
    expect((await ada.submit(page(removal))).text).toContain("The member is removed.");
    expect(await isListed()).toBe(false);
  });

  test("whose answer is lost is 503, and the same form says that the member is removed", async () => {
    const remove = MemberStore.prototype.remove;
    vi.spyOn(MemberStore.prototype, "remove").mockImplementationOnce(async function lose(this: MemberStore, ...call) {
      await remove.apply(this, call);
      throw new DomainError("deadline_exceeded", "the database did not answer in time");
    });
    expect((await ada.submit(page(removal))).status).toBe(503);
    expect(await isListed()).toBe(false);
    expect((await ada.submit(page(removal))).text).toContain("The member is removed.");
  });

  test("that fails by a bug of access is 500, and leaves the member", async () => {
    vi.spyOn(MemberStore.prototype, "remove").mockRejectedValueOnce(new TypeError("a bug"));
    const { status, text } = await ada.submit(page(removal));
    expect([status, text.includes("a bug")]).toEqual([500, false]);
    expect(text).toContain("This is a fault of the platform, not yours.");
    expect(await isListed()).toBe(true);
  });

  test("while access is down is 503, and the same form removes the member once access is back", async () => {
    await gateway[Symbol.asyncDispose]();
    expect((await ada.submit(page(removal))).status).toBe(503);
    const { config, grpcPort } = gateway;
    opened.use(await openGateway({ ...config, grpcPort }));
    await vi.waitFor(async () => expect(await isListed()).toBe(true), 5_000);
    expect((await ada.submit(page(removal))).text).toContain("The member is removed.");
    expect(await isListed()).toBe(false);
  });
});
