import { openBrowser, type OpenBrowser, type Visitor } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { freePorts } from "@vidimus/devstack/testing/free-ports";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNpmScript } from "../support/npm-script.ts";
import { vidimus } from "../support/vidimus.ts";
import { press, tabTo } from "./support/console-pages.ts";

const opened = new AsyncDisposableStack();
const wide: Visitor = { width: 1280, scheme: "light" };
let browser: OpenBrowser;
let dir: string;
let dev: DevJson;
/** The link that `npm start` printed. */
let printed: string;
let operator: Visitor;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-console-"));
  opened.defer(() => rm(dir, { recursive: true, force: true }));
  browser = opened.use(await openBrowser());
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...inherited } = process.env;
  const args = ["--state", join(dir, ".vidimus")];
  const start = runNpmScript("start", args, { ...inherited, ...(await freePorts()) });
  opened.defer(async () => {
    start.child.kill("SIGTERM");
    await start.ended;
  });
  const said = await start.says("npm run demo");
  printed = /Console +(\S+)/.exec(said)?.[1] ?? "";
  dev = (await readDevJson(join(dir, ".vidimus")))!;
});
afterAll(() => opened.disposeAsync());

const textOf = (page: Page) => page.locator("main").innerText();
const newLink = async () => (await makeConsoleLink(dev))!;

describe("after npm start", () => {
  const blocked: string[] = [];
  const addresses: string[] = [];
  it("the printed link leads to a signed-in page", async () => {
    operator = await browser.visit("about:blank", wide, async (page) => {
      page.on("console", (message) => void (message.type() === "error" && blocked.push(message.text())));
      page.on("request", (request) => void addresses.push(request.url(), request.headers()["referer"] ?? ""));
      await page.goto(printed);
      await page.getByRole("heading", { name: "Sign in to Demo newsroom?" }).waitFor();
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Demo newsroom" }).waitFor();
      expect(await textOf(page)).toContain("You are owner here.");
      expect(new URL(page.url()).pathname).toBe("/t/demo");
      return { ...wide, kept: await page.context().storageState() };
    });
    expect(blocked).toEqual([]);
  });

  it("after the printed link was followed, its code is in no URL or referrer of a request", () => {
    const code = new URL(printed).hash.replace("#code=", "");
    expect(code).toHaveLength(43);
    expect(addresses.length).toBeGreaterThan(1);
    // The first address has the code in its fragment, which is sent to no server.
    expect(addresses.slice(1).filter((address) => address.includes(code))).toEqual([]);
  });

  it("the page of a used link says how to get another", async () => {
    const said = await browser.visit(printed, wide, async (page) => {
      await page.getByRole("alert").waitFor();
      return textOf(page);
    });
    expect(said).toContain("This code was used already, its ten minutes are over, or it is not one for signing in.");
    expect(said).toMatch(/(?<!npx )vidimus console sign-in --as NAME/);
  });

  it("vidimus doctor finds the console's ops port well", async () => {
    const { stdout } = await vidimus(["doctor", "--json"], { cwd: dir });
    const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string }[] };
    expect(findings.find(({ check }) => check === "console ops")).toMatchObject({ status: "ok" });
  });

  it("vidimus console sign-in makes a link that signs in", async () => {
    const made = await vidimus(["console", "sign-in", "--as", "kari", "--tenant", "demo", "--role", "owner"], {
      cwd: dir,
    });
    const kari = await signInByLink(browser, made.stdout.trim(), wide);
    expect(await browser.visit(`${dev.console}/newsrooms`, kari, textOf)).toContain("kari");
  });
});

describe.each([{ script: true }, { script: false }])("with script $script", ({ script }) => {
  const visitor: Visitor = { ...wide, script };

  it("a person signs in, sees two sessions, ends the other one, and signs out", async () => {
    await signInByLink(browser, await newLinkOf(`twice-${script}`), wide);
    const code = new URL(await newLinkOf(`twice-${script}`)).hash.replace("#code=", "");
    await browser.visit(`${dev.console}/sign-in`, visitor, async (page) => {
      await page.getByLabel("One-time code").fill(code);
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("link", { name: "Sessions" }).click();
      expect(await textOf(page)).toContain("2 sessions");
      await page.getByRole("button", { name: /^End/ }).click();
      expect(await textOf(page)).toContain("1 session,");
      await page.getByRole("button", { name: "Sign out" }).first().click();
      expect(await textOf(page)).toContain("You are signed out");
      await page.goBack();
      await page.reload();
      expect(new URL(page.url()).pathname).toBe("/sign-in");
    });
  });

  it("a person accepts an invitation to a second newsroom, as editor, and can still open the first", async () => {
    const code = new URL(await newInvitation()).hash.replace("#code=", "");
    const person = await signInByLink(browser, await newLinkOf(`guest-${script}`), wide);
    await browser.visit(`${dev.console}/invitation`, { ...person, script }, async (page) => {
      await page.getByLabel("Code of the invitation").fill(code);
      await page.getByRole("button", { name: "Open the invitation" }).click();
      expect(await textOf(page)).toContain("You are invited to Rival newsroom");
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      await page.getByRole("heading", { name: "Rival newsroom" }).waitFor();
      expect(await textOf(page)).toContain("You are editor here.");
      await page.getByRole("link", { name: "Newsrooms" }).click();
      await page.getByRole("button", { name: "Open Demo newsroom" }).click();
      await page.getByRole("heading", { name: "Demo newsroom" }).waitFor();
    });
  });
});

/** Links that these tests have made by the command line, to sign in or to accept an invitation. */
const used: string[] = [];

async function newLinkOf(name: string): Promise<string> {
  const args = ["console", "sign-in", "--as", name, "--tenant", "demo", "--role", "owner", "--roles", "editor"];
  const link = (await vidimus(args, { cwd: dir })).stdout.trim();
  used.push(link);
  return link;
}

/** Makes a link that invites an editor of the tenant `rival`. */
async function newInvitation(): Promise<string> {
  const made = ["members", "invite", "--tenant", "rival", "--roles", "editor", "--note", "Kari", "--role", "owner"];
  const link = /\S+#code=\S+/.exec((await vidimus(made, { cwd: dir })).stdout)![0];
  used.push(link);
  return link;
}

it("no code of a link is in any log or metric, whether it was used or not", async () => {
  const codes = [printed, await newLink(), ...used].map((link) => new URL(link).hash.replace("#code=", ""));
  const logs = join(dir, ".vidimus", "logs");
  const written = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), "utf8")));
  const measured = await Promise.all(Object.values(dev.ops).map(async (url) => (await fetch(`${url}/metrics`)).text()));
  expect(written.join()).toContain("/sign-in/confirm");
  expect(codes.length).toBeGreaterThan(5);
  for (const code of codes) expect([...written, ...measured].some((each) => each.includes(code))).toBe(false);
});

describe("in the console", () => {
  it("keyboard alone signs in and out", async () => {
    await browser.visit(await newLink(), wide, async (page) => {
      await page.getByRole("heading", { name: "Sign in to Demo newsroom?" }).waitFor();
      await tabTo(page, "Sign in");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: "Sessions" }).waitFor();
      await tabTo(page, "Sign out");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    });
  });

  it("keyboard alone accepts an invitation, opens another newsroom, and ends a session", async () => {
    const [first, invitation] = [await newLinkOf("by-keyboard"), await newInvitation()];
    await signInByLink(browser, await newLinkOf("by-keyboard"), wide);
    const person = await signInByLink(browser, first, wide);
    await browser.visit(invitation, person, async (page) => {
      await page.getByRole("heading", { name: "You are invited to Rival newsroom" }).waitFor();
      await press(page, "Accept the invitation");
      expect(await textOf(page)).toContain("You are editor here.");
      await press(page, "Newsrooms");
      await press(page, "Open Demo newsroom");
      await page.getByRole("heading", { name: "Demo newsroom" }).waitFor();
      await press(page, "Sessions");
      const other = page.getByRole("button", { name: /^End the session in / });
      await press(page, (await other.getAttribute("aria-label"))!);
      expect(await textOf(page)).toContain("1 session,");
    });
  });

  it("the start page is at most 40 kB with everything that it loads, uncompressed", async () => {
    const bytes: number[] = [];
    await browser.visit("about:blank", operator, async (page) => {
      page.on("response", async (response) => void (response.ok() && bytes.push((await response.body()).length)));
      await page.goto(dev.console!, { waitUntil: "networkidle" });
    });
    expect(bytes.length).toBeGreaterThan(2);
    expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(40_000);
  });
});
