/** The settings pages in a browser, with and without script: keys, members, audit. */
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { axeViolations } from "@vidimus/devstack/browser/axe-violations";
import { openBrowser, type OpenBrowser, type View, type Visitor, views } from "@vidimus/devstack/browser/open-browser";
import { signInByLink } from "@vidimus/devstack/browser/sign-in";
import { makeConsoleLink } from "@vidimus/devstack/stack/console-link";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { type DevJson, readDevJson } from "@vidimus/devstack/stack/dev-json";
import { freePorts } from "@vidimus/devstack/testing/free-ports";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runNpmScript } from "../support/npm-script.ts";
import { vidimus } from "../support/vidimus.ts";

const run = promisify(execFile);
const opened = new AsyncDisposableStack();
const wide: View = { width: 1280, scheme: "light" };
const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "cli:kari" } };
/** Text that would be a script, if any page took it for markup. */
const planted = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
let browser: OpenBrowser;
let dir: string;
let dev: DevJson;
let owner: Visitor;
/** Id of a key whose name is `planted`. */
let keyId: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-settings-"));
  opened.defer(() => rm(dir, { recursive: true, force: true }));
  browser = opened.use(await openBrowser());
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...inherited } = process.env;
  const start = runNpmScript("start", ["--state", join(dir, ".vidimus")], { ...inherited, ...(await freePorts()) });
  opened.defer(async () => {
    start.child.kill("SIGTERM");
    await start.ended;
  });
  await start.says("npm run demo");
  dev = (await readDevJson(join(dir, ".vidimus")))!;
  owner = await signInByLink(browser, (await makeConsoleLink(dev))!, wide);
  using access = openDevClient(dev, "access", AccessService);
  const name = `${planted} نشرة 速報`;
  const made = await access.createApiKey({ tenantId: "demo", name, scopes: ["publisher:read"] }, asOwner);
  keyId = made.apiKey!.keyId;
  await vidimus(["members", "invite", "--roles", "editor", "--note", planted, "--role", "owner"], { cwd: dir });
});
afterAll(() => opened.disposeAsync());

const textOf = (page: Page) => page.locator("main").innerText();
const at = (path: string) => `${dev.console}/t/demo${path}`;
const newLinkOf = async (name: string) =>
  (
    await vidimus(["console", "sign-in", "--as", name, "--tenant", "demo", "--role", "owner"], { cwd: dir })
  ).stdout.trim();

/** Runs a curl command that a page shows; answers the HTTP status. */
async function statusOf(command: string): Promise<number> {
  const { stdout } = await run("sh", ["-c", `${command} -o /dev/null -w '%{http_code}'`]);
  return Number(stdout);
}

/** Opens a page; fails when it breaks its Content-Security-Policy or runs what others have planted. */
async function visit<T>(path: string, visitor: Visitor, look: (page: Page) => Promise<T>): Promise<T> {
  const blocked: string[] = [];
  const result = await browser.visit("about:blank", visitor, async (page) => {
    page.on("console", (message) => {
      if (message.type() === "error" && /Policy/i.test(message.text())) blocked.push(message.text());
    });
    await page.goto(at(path));
    const seen = await look(page);
    expect(await page.title()).not.toBe("run");
    return seen;
  });
  expect(blocked).toEqual([]);
  return result;
}

describe.each([{ script: true }, { script: false }])("with script $script", ({ script }) => {
  const name = `Importer, script ${script}`;
  const as = (visitor: Visitor): Visitor => ({ ...visitor, script });

  it("a key is made, its command works, it is revoked, and its command is refused", async () => {
    const command = await visit("/keys", as(owner), async (page) => {
      await page.getByRole("link", { name: "New key" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("publisher:read").check();
      await page.getByRole("button", { name: "Make the key" }).click();
      const shown = await page.locator("#try").innerText();
      expect(shown).toContain(await page.getByRole("textbox", { name: "API key" }).inputValue());
      // axe runs as a script of the page.
      if (script) expect(await axeViolations(page)).toEqual([]);
      expect(await page.getByRole("button", { name: "Copy: API key" }).isVisible()).toBe(script);
      expect(await statusOf(shown)).toBe(200);
      await page.getByRole("link", { name: "I have stored it" }).click();
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("link", { name: "Revoke" }).click();
      await page.getByRole("button", { name: "Revoke the key" }).click();
      expect(await textOf(page)).toContain("The key is revoked");
      return shown;
    });
    await vi.waitFor(async () => expect(await statusOf(command)).toBe(401), 5_000);
  });

  it("a secret is not shown again by back or by reload", async () => {
    await visit("/keys/new", as(owner), async (page) => {
      await page.getByLabel("Name").fill(`${name}, shown once`);
      await page.getByLabel("publisher:read").check();
      await page.getByRole("button", { name: "Make the key" }).click();
      const secret = await page.getByRole("textbox", { name: "API key" }).inputValue();
      await page.reload();
      expect(await textOf(page)).toContain("was made by the first click");
      await page.goto(at("/keys"));
      // Browsers ask before they send a form again; this one refuses, and shows nothing.
      await page.goBack().catch(() => undefined);
      await vi.waitFor(async () => expect(await page.content()).not.toContain(secret), 5_000);
    });
  });

  it("a double click makes one key", async () => {
    await visit("/keys/new", as(owner), async (page) => {
      await page.getByLabel("Name").fill(`${name}, clicked twice`);
      await page.getByLabel("publisher:read").check();
      await page.getByRole("button", { name: "Make the key" }).dblclick();
      await page.getByRole("heading", { name: `“${name}, clicked twice”` }).waitFor();
      // Without script both clicks send the form, and the answer to the first may have been dropped.
      if ((await textOf(page)).includes("was made by the first click")) {
        await page.getByRole("link", { name: "Roll the key" }).click();
        expect(await textOf(page)).toContain(`Roll “${name}, clicked twice”?`);
      } else {
        expect(await page.getByRole("textbox", { name: "API key" }).inputValue()).toMatch(/^vk_/);
      }
      await page.goto(at("/keys"));
      expect(await page.getByRole("link", { name: `${name}, clicked twice`, exact: true }).count()).toBe(1);
    });
  });

  it("faults are shown at their fields, and what was typed stays", async () => {
    await visit("/keys/new", as(owner), async (page) => {
      await page.getByLabel("Name").fill("Typed");
      await page.getByRole("button", { name: "Make the key" }).click();
      await page.getByRole("alert").getByRole("link").click();
      expect(await page.locator("input:focus").getAttribute("name")).toBe("scopes");
      expect(await page.getByLabel("Name").inputValue()).toBe("Typed");
      if (script) expect(await axeViolations(page)).toEqual([]);
    });
  });

  it("a colleague is invited as editor, accepts, and sees no settings", async () => {
    const link = await visit("/members", as(owner), async (page) => {
      await page.getByRole("link", { name: "Invite", exact: true }).click();
      await page.getByLabel("For whom").fill(`Kari ${script}`);
      await page.getByLabel("editor").check();
      await page.getByRole("button", { name: "Make the invitation" }).click();
      const shown = await page.getByRole("textbox", { name: "Link of the invitation" }).inputValue();
      await page.getByRole("link", { name: "I have sent it" }).click();
      expect(await textOf(page)).toContain(`Kari ${script}`);
      return shown;
    });
    const colleague = `kari-${script}`;
    const visitor = await signInByLink(browser, await newLinkOf(colleague), wide);
    await removeFromDemo(colleague);
    await browser.visit(`${dev.console}/invitation`, as(visitor), async (page) => {
      await page.getByLabel("Code of the invitation").fill(new URL(link).hash.replace("#code=", ""));
      await page.getByRole("button", { name: "Open the invitation" }).click();
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      expect(await textOf(page)).toContain("You are editor here.");
      expect(await page.getByRole("link", { name: "API keys" }).count()).toBe(0);
    });
  });

  it("a session that ends in the middle of a form loses nothing that was typed", async () => {
    const visitor = await signInByLink(browser, await newLinkOf(`ends-${script}`), wide);
    await visit("/keys/new", as(visitor), async (page) => {
      await page.getByLabel("Name").fill(`Typed before the end, ${script}`);
      await page.getByLabel("phrases:read").check();
      await page.context().clearCookies();
      await page.getByRole("button", { name: "Make the key" }).click();
      expect(await textOf(page)).toContain("Your session has ended");
      expect(await textOf(page)).toContain(`Typed before the end, ${script}`);
      const tab = await page.context().newPage();
      await tab.goto(await newLinkOf(`ends-${script}`));
      if (!script) {
        const code = new URL(tab.url()).hash.replace("#code=", "");
        await tab.getByLabel("One-time code").fill(code);
        await tab.getByRole("button", { name: "Continue" }).click();
      }
      await tab.getByRole("button", { name: "Sign in" }).click();
      await tab.getByRole("link", { name: "Sessions" }).waitFor();
      await page.getByRole("button", { name: "Send it again" }).click();
      expect(await textOf(page)).toContain("is made");
    });
  });

  it("two people at once: who comes second reads what the first has done", async () => {
    const other = await signInByLink(browser, await newLinkOf(`second-${script}`), wide);
    using access = openDevClient(dev, "access", AccessService);
    const request = { tenantId: "demo", name: `Shared ${script}`, scopes: ["publisher:read"] };
    const { apiKey } = await access.createApiKey(request, asOwner);
    await visit(`/keys/${apiKey!.keyId}/roll`, as(other), async (late) => {
      await visit(`/keys/${apiKey!.keyId}/revoke`, as(owner), async (page) => {
        await page.getByRole("button", { name: "Revoke the key" }).click();
        await page.getByText("The key is revoked").waitFor();
      });
      await late.getByRole("button", { name: "Roll the key" }).click();
      expect(await late.getByRole("alert").innerText()).toContain("was revoked");
    });
  });
});

async function removeFromDemo(subject: string): Promise<void> {
  const { stdout } = await vidimus(["members", "list", "--role", "owner", "--json"], { cwd: dir });
  const rows = JSON.parse(stdout) as { id: string; subject: string }[];
  const { id } = rows.find((row) => row.subject === subject)!;
  await vidimus(["members", "remove", id, "--role", "owner"], { cwd: dir });
}

it("the copy button puts the secret on the clipboard", async () => {
  await visit("/keys/new", owner, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByLabel("Name").fill("Copied");
    await page.getByLabel("publisher:read").check();
    await page.getByRole("button", { name: "Make the key" }).click();
    const secret = await page.getByRole("textbox", { name: "API key" }).inputValue();
    await page.getByRole("button", { name: "Copy: API key" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
  });
});

describe("every page", () => {
  const paths = () => [
    "",
    "/keys",
    "/keys?state=all",
    "/keys/new",
    `/keys/${keyId}`,
    `/keys/${keyId}/scopes`,
    `/keys/${keyId}/roll`,
    `/keys/${keyId}/revoke`,
    "/members",
    "/members/invite",
    "/audit",
  ];

  it.each(views)(
    "has no violation of WCAG 2.2 AA and does not scroll sideways at $width px in $scheme",
    async (view) => {
      const faults: string[] = [];
      for (const path of paths()) {
        await visit(path, { ...owner, ...view }, async (page) => {
          const found = await axeViolations(page);
          const scrolls = await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth");
          faults.push(...found.map((fault) => `${path}: ${fault}`), ...(scrolls ? [`${path} scrolls sideways`] : []));
        });
      }
      expect(faults).toEqual([]);
    },
  );

  it("shows text that others have planted as text", async () => {
    for (const path of ["/keys", `/keys/${keyId}`, `/keys/${keyId}/roll`, "/members", "/audit"]) {
      expect([path, await visit(path, owner, textOf)]).toEqual([path, expect.stringContaining("<script>")]);
    }
  });

  it("is at most 40 kB gzip with everything that it loads", async () => {
    for (const path of paths()) {
      const sizes: Promise<number>[] = [];
      await browser.visit("about:blank", owner, async (page) => {
        page.on("response", (response) => sizes.push(response.body().then((body) => gzipSync(body).length)));
        await page.goto(at(path), { waitUntil: "networkidle" });
        await Promise.all(sizes);
      });
      const bytes = (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
      expect([path, bytes > 2_000, bytes < 40_000]).toEqual([path, true, true]);
    }
  });
});

it("keyboard alone makes a key, revokes it, and invites", async () => {
  await visit("/keys", owner, async (page) => {
    await press(page, "New key");
    await page.getByRole("heading", { name: "New key" }).waitFor();
    await tabTo(page, "name");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await press(page, "Make the key");
    await page.getByText("It is shown this once").waitFor();
    await press(page, "I have stored it");
    await page.getByText("The secret is not shown again").waitFor();
    await press(page, "By keyboard");
    await page.getByRole("heading", { name: "By keyboard" }).waitFor();
    await press(page, "Revoke");
    await page.getByRole("heading", { name: "Revoke" }).waitFor();
    await press(page, "Revoke the key");
    await page.getByText("The key is revoked").waitFor();
    await press(page, "Members");
    await page.getByRole("heading", { name: "Members" }).waitFor();
    await press(page, "Invite");
    await page.getByRole("heading", { name: "Invite" }).waitFor();
    await tabTo(page, "note");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await press(page, "Make the invitation");
    await page.getByText("It is shown this once").waitFor();
  });
});

/** Presses Enter on the control with a text. */
async function press(page: Page, text: string): Promise<void> {
  await tabTo(page, text);
  await page.keyboard.press("Enter");
}

/** Presses Tab until a control with this text or name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 120; count += 1) {
    await page.keyboard.press("Tab");
    const focused = "[document.activeElement.textContent.trim(), document.activeElement.name]";
    if ((await page.evaluate<unknown[]>(focused)).includes(name)) return;
  }
  throw new Error(`no control "${name}" gets the focus`);
}
