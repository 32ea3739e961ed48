/** The settings pages in a browser, with and without script: keys, members, audit. */
import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { vidimus } from "../support/vidimus.ts";
import { press, tabTo } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";

const run = promisify(execFile);
const opened = new AsyncDisposableStack();
const asOwner = { headers: { "vidimus-role": "owner", "vidimus-actor": "cli:kari" } };
/** Text that would be a script, if any page took it for markup. */
const planted = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
let stack: ConsoleStack;
let owner: Visitor;
/** Id of a key whose name begins with `planted`. */
let keyId: string;

beforeAll(async () => {
  stack = opened.use(await openConsoleStack());
  owner = await stack.signIn("operator");
  keyId = await makeKey(`${planted} نشرة 速報`);
  await invite(planted);
});
afterAll(() => opened.disposeAsync());

const textOf = (page: Page) => page.locator("main").innerText();
const at = (path: string) => `${stack.dev.console}/t/demo${path}`;

/** Makes a key by API; answers its id. */
async function makeKey(name: string, scopes = ["publisher:read"]): Promise<string> {
  using access = openDevClient(stack.dev, "access", AccessService);
  const { apiKey } = await access.createApiKey({ tenantId: "demo", name, scopes }, asOwner);
  return apiKey!.keyId;
}

/** Invites an editor by the command line. */
async function invite(note: string): Promise<void> {
  await vidimus(["members", "invite", "--roles", "editor", "--note", note, "--role", "owner"], { cwd: stack.dir });
}

/** Runs a curl command that a page shows; answers the HTTP status. */
async function statusOf(command: string): Promise<number> {
  const { stdout } = await run("sh", ["-c", `${command} -o /dev/null -w '%{http_code}'`]);
  return Number(stdout);
}

/**
 * Opens a page; fails when it breaks its Content-Security-Policy or runs what others have planted.
 */
async function visit<T>(path: string, visitor: Visitor, look: (page: Page) => Promise<T>): Promise<T> {
  const blocked: string[] = [];
  const result = await stack.browser.visit("about:blank", visitor, async (page) => {
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

  it("the command shown with a new key works until the key is revoked", async () => {
    const command = await visit("/keys", as(owner), async (page) => {
      await page.getByRole("link", { name: "New key" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("publisher:read").check();
      await page.getByRole("button", { name: "Make the key" }).click();
      const shown = await page.locator("#try").innerText();
      expect(shown).toContain(await page.getByRole("textbox", { name: "API key" }).inputValue());
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
    const rolled = await makeKey(`${name}, rolled`);
    const forms: readonly [string, button: string, field: string, (page: Page) => Promise<void>][] = [
      ["/keys/new", "Make the key", "API key", fillKey],
      [`/keys/${rolled}/roll`, "Roll the key", "API key", async () => {}],
      ["/members/invite", "Make the invitation", "Link of the invitation", fillInvitation],
    ];
    for (const [path, button, field, fill] of forms) {
      await visit(path, as(owner), async (page) => {
        await fill(page);
        await page.getByRole("button", { name: button }).click();
        const secret = await page.getByRole("textbox", { name: field }).inputValue();
        await page.reload();
        expect(await textOf(page)).toContain("was made by the first click");
        expect(await page.content()).not.toContain(secret);
        await page.goto(at("/keys"));
        // Browsers ask before they send a form again; this one refuses, and shows nothing.
        await page.goBack().catch(() => undefined);
        await vi.waitFor(async () => expect(await page.content()).not.toContain(secret), 5_000);
      });
    }
  });

  async function fillKey(page: Page): Promise<void> {
    await page.getByLabel("Name").fill(`${name}, shown once`);
    await page.getByLabel("publisher:read").check();
  }

  async function fillInvitation(page: Page): Promise<void> {
    await page.getByLabel("For whom").fill(`${name}, shown once`);
    await page.getByLabel("editor").check();
  }

  it("a double click makes one key", async () => {
    await visit("/keys/new", as(owner), async (page) => {
      await page.getByLabel("Name").fill(`${name}, clicked twice`);
      await page.getByLabel("publisher:read").check();
      await page.getByRole("button", { name: "Make the key" }).dblclick();
      await page.getByRole("heading", { name: `“${name}, clicked twice”` }).waitFor();
      // Without script both clicks send the form, and the answer to the first may have been
      // dropped.
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

  it("the refused form of a new key comes back with what was typed, and with its fault at the field", async () => {
    await visit("/keys/new", as(owner), async (page) => {
      await page.getByLabel("Name").fill("Typed");
      await page.getByRole("button", { name: "Make the key" }).click();
      expect(await page.locator("#scopes-error").innerText()).toBe("Choose at least one scope.");
      await page.getByRole("alert").getByRole("link").click();
      expect(await page.locator("input:focus").getAttribute("name")).toBe("scopes");
      expect(await page.getByLabel("Name").inputValue()).toBe("Typed");
    });
  });

  it("an editor accepts an invitation, and of the settings the navigation lists only the trust list", async () => {
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
    const visitor = await stack.signIn(colleague);
    await removeFromDemo(colleague);
    await stack.browser.visit(`${stack.dev.console}/invitation`, as(visitor), async (page) => {
      await page.getByLabel("Code of the invitation").fill(new URL(link).hash.replace("#code=", ""));
      await page.getByRole("button", { name: "Open the invitation" }).click();
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      expect(await textOf(page)).toContain("You are editor here.");
      expect(await page.getByRole("link", { name: "API keys" }).count()).toBe(0);
      const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
      const own = ["Newsrooms", "Sessions", "API docs"];
      expect(await links.allInnerTexts()).toEqual(["Overview", "Phrases", "Trust list", ...own]);
    });
  });

  it("the form of a new key, sent after the session ended, can be sent again without retyping", async () => {
    const visitor = await stack.signIn(`ends-${script}`);
    await visit("/keys/new", as(visitor), async (page) => {
      await page.getByLabel("Name").fill(`Typed before the end, ${script}`);
      await page.getByLabel("phrases:read").check();
      await page.context().clearCookies();
      await page.getByRole("button", { name: "Make the key" }).click();
      expect(await textOf(page)).toContain("Your session has ended");
      expect(await textOf(page)).toContain(`Typed before the end, ${script}`);
      const tab = await page.context().newPage();
      await tab.goto(await stack.newLink(`ends-${script}`));
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

  it("who rolls a key that another person has revoked meanwhile reads that it was revoked", async () => {
    const other = await stack.signIn(`second-${script}`);
    const shared = await makeKey(`Shared ${script}`);
    await visit(`/keys/${shared}/roll`, as(other), async (late) => {
      await visit(`/keys/${shared}/revoke`, as(owner), async (page) => {
        await page.getByRole("button", { name: "Revoke the key" }).click();
        await page.getByText("The key is revoked").waitFor();
      });
      await late.getByRole("button", { name: "Roll the key" }).click();
      expect(await late.getByRole("alert").innerText()).toContain("was revoked");
    });
  });
});

async function removeFromDemo(subject: string): Promise<void> {
  const cwd = stack.dir;
  const { stdout } = await vidimus(["members", "list", "--role", "owner", "--json"], { cwd });
  const rows = JSON.parse(stdout) as { id: string; subject: string }[];
  const { id } = rows.find((row) => row.subject === subject)!;
  await vidimus(["members", "remove", id, "--role", "owner"], { cwd });
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

it("pages of keys, members and the audit log show planted markup as text", async () => {
  for (const path of ["/keys", `/keys/${keyId}`, `/keys/${keyId}/roll`, "/members", "/audit"]) {
    expect([path, await visit(path, owner, textOf)]).toEqual([path, expect.stringContaining("<script>")]);
  }
});

it("keyboard alone makes a key and revokes it", async () => {
  await visit("/keys", owner, async (page) => {
    await press(page, "New key");
    await page.getByRole("heading", { name: "New key" }).waitFor();
    await tabTo(page, "name");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await press(page, "Make the key");
    await page.getByText("is shown this once").waitFor();
    await press(page, "I have stored it");
    await page.getByText("The secret is not shown again").waitFor();
    await press(page, "By keyboard");
    await page.getByRole("heading", { name: "By keyboard" }).waitFor();
    await press(page, "Revoke");
    await page.getByRole("heading", { name: "Revoke" }).waitFor();
    await press(page, "Revoke the key");
    await page.getByText("The key is revoked").waitFor();
  });
});

it("keyboard alone invites somebody", async () => {
  await visit("/keys", owner, async (page) => {
    await press(page, "Members");
    await page.getByRole("heading", { name: "Members" }).waitFor();
    await press(page, "Invite");
    await page.getByRole("heading", { name: "Invite" }).waitFor();
    await tabTo(page, "note");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await press(page, "Make the invitation");
    await page.getByText("is shown this once").waitFor();
  });
});

it("keyboard alone rolls a key", async () => {
  const id = await makeKey("Rolled by keyboard", ["publisher:read", "phrases:read"]);
  await visit(`/keys/${id}`, owner, async (page) => {
    await press(page, "Roll");
    await tabTo(page, "overlap");
    await page.keyboard.press("ArrowUp");
    expect(await page.getByLabel("1 hour").isChecked()).toBe(true);
    await press(page, "Roll the key");
    expect(await textOf(page)).toContain("has a new key");
  });
});

it("keyboard alone changes a key's scopes", async () => {
  const id = await makeKey("Widened by keyboard", ["publisher:read", "phrases:read"]);
  await visit(`/keys/${id}`, owner, async (page) => {
    await press(page, "Change scopes");
    await tabTo(page, "scopes");
    await page.keyboard.press("Space");
    await press(page, "Change the scopes");
    expect(await textOf(page)).toContain("The scopes are changed.");
  });
});

it("keyboard alone changes a member's roles", async () => {
  await stack.signIn("lena", { roles: "editor" });
  await visit("/members", owner, async (page) => {
    await press(page, "Change the roles of lena");
    await tabTo(page, "own");
    await page.keyboard.type("night");
    await press(page, "Change the roles");
    expect(await textOf(page)).toContain("The roles are changed.");
  });
});

it("keyboard alone removes a member", async () => {
  await stack.signIn("lina", { roles: "editor" });
  await visit("/members", owner, async (page) => {
    await press(page, "Remove lina");
    await press(page, "Remove the member");
    expect(await textOf(page)).toContain("The member is removed.");
  });
});

it("keyboard alone revokes an invitation", async () => {
  await invite("Nobody");
  await visit("/members", owner, async (page) => {
    await press(page, "Revoke the invitation for Nobody");
    await press(page, "Revoke the invitation");
    expect(await textOf(page)).toContain("The invitation is revoked");
  });
});

it("keyboard alone narrows the audit log", async () => {
  await visit("/audit", owner, async (page) => {
    await tabTo(page, "kind");
    await page.keyboard.press("ArrowDown");
    await press(page, "Show");
    expect(new URL(page.url()).searchParams.get("kind")).toBe("keys");
    expect(await textOf(page)).toContain("made a key");
    expect(await textOf(page)).not.toContain("invited somebody");
  });
});

it.each([320, 390])(
  "at %i px all 12 links of the navigation are in sight, row by row in document order",
  async (width) => {
    await visit("/keys", { ...owner, width }, async (page) => {
      const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
      const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()));
      expect(boxes).toHaveLength(12);
      let [row, end] = [0, 0];
      for (const box of boxes) {
        const { x, y, height, width: wide } = box!;
        expect(y > row ? x : x - end).toBeGreaterThanOrEqual(0);
        expect([x + wide <= width, y + height < 300, y >= row]).toEqual([true, true, true]);
        [row, end] = [y, x + wide];
      }
    });
  },
);

it("at 1280 px the table of keys fits its sheet when each time reads “59 minutes ago”", async () => {
  using access = openDevClient(stack.dev, "access", AccessService);
  const every = ["documents:create", "publisher:read", "phrases:write", "webhooks:write"];
  const [soon, rolled, revoked] = [
    await makeKey("Ends soon", every),
    await makeKey("Rolled"),
    await makeKey("Revoked"),
  ];
  await access.rollApiKey({ tenantId: "demo", keyId: soon, overlap: { seconds: 86_400n } }, asOwner);
  await access.rollApiKey({ tenantId: "demo", keyId: rolled }, asOwner);
  await access.revokeApiKey({ tenantId: "demo", keyId: revoked }, asOwner);
  await visit("/keys?state=all", owner, async (page) => {
    await page.evaluate("for (const each of document.querySelectorAll('td time')) each.textContent = '59 minutes ago'");
    const sheet = await page
      .locator(".sheet")
      .evaluate(({ clientWidth, scrollWidth }) => ({ clientWidth, scrollWidth }));
    expect(sheet.scrollWidth).toBe(sheet.clientWidth);
  });
});
