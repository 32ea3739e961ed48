/** What people see while the platform does not answer, and once it does again. */
import { expect, test, vi } from "vitest";
import { openGateway } from "../../../services/gateway/test/support/start-gateway.ts";
import { Browser } from "./support/browser.ts";
import { openLinkedConsole } from "./support/linked-console.ts";

test("each page that needs access answers 503 while access is down, and signing out works", async () => {
  const gateway = await openGateway();
  await gateway.access.createTenant({ tenantId: "demo", name: "Demo newsroom" });
  await using console = await openLinkedConsole(gateway.grpcPort);
  const [ada, grace] = [new Browser(), new Browser()];
  const code = await console.newCode("later");
  for (const browser of [ada, grace]) await console.signIn(browser);
  await gateway[Symbol.asyncDispose]();

  const at = (path: string) => `${console.origin}${path}`;
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
  expect((await ada.open(at("/sign-in"))).status).toBe(200);
  expect((await grace.submit(at("/sign-out"))).text).toContain("You are signed out");
  expect((await grace.open(at("/"))).url.pathname).toBe("/sign-in");

  const { config, grpcPort } = gateway;
  await using _again = await openGateway({ ...config, grpcPort });
  await vi.waitFor(async () => expect((await ada.open(at("/"))).text).toContain("Demo newsroom"), 5_000);
  expect((await grace.submit(at("/sign-in/confirm"), { code })).text).toContain("later");
});
