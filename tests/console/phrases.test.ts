import type { Visitor } from "@vidimus/devstack/browser/open-browser";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openNewsroom } from "../support/newsroom.ts";
import { openReceiver, type Webhook } from "../support/receiver.ts";
import { press, tabTo, wordsOf as words } from "./support/console-pages.ts";
import { type ConsoleStack, openConsoleStack } from "./support/open-console-stack.ts";

const opened = new AsyncDisposableStack();
let stack: ConsoleStack;
let ida: Visitor;
let base: string;
let folder: string;
let webhook: Webhook;
let secret: string;

beforeAll(async () => {
  stack = opened.use(await openConsoleStack());
  ida = await stack.signIn("ida");
  base = `${stack.dev.console}/t/demo`;
  folder = await mkdtemp(join(tmpdir(), "vidimus-csv-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const room = opened.use(openNewsroom(stack.dev));
  const receiver = opened.use(await openReceiver());
  ({ secret } = await room.endpoints.createEndpoint({ tenantId: "demo", url: receiver.url }));
  const id = await room.push({ title: "Färjan är inställd" });
  await room.transition(id, "publish");
  webhook = await receiver.about(id, { sequence: 1 });
});
afterAll(() => opened.disposeAsync());

const headers = () =>
  Object.entries(webhook.headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");

describe.each([{ script: true }, { script: false }])("with script $script", ({ script }) => {
  it("a phrase is added, found, edited and deleted", async () => {
    await stack.browser.visit(`${base}/phrases`, { ...ida, script }, async (page) => {
      await page.getByRole("link", { name: "New phrase" }).click();
      await page.getByLabel("Phrase", { exact: true }).fill("Försvarsmakten");
      await page.getByLabel("Language").fill("sv_SE");
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByRole("alert").waitFor();
      expect(await page.getByLabel("Phrase", { exact: true }).inputValue()).toBe("Försvarsmakten");
      await page.getByLabel("Language").fill("sv");
      await page.getByLabel("Common mistakes").fill("Forsvarsmakten");
      await page.getByRole("button", { name: "Add" }).click();
      expect(await words(page)).toContain("The phrase is in the dictionary.");
      await page.getByLabel("Forbidden").check();
      await page.getByRole("button", { name: "Save" }).click();
      expect(await words(page)).toContain("The phrase is saved.");
      await page.getByRole("link", { name: "Phrases", exact: true }).first().click();
      await page.getByLabel("Text in the phrase").fill("MAKTEN");
      await page.getByRole("button", { name: "Show" }).click();
      expect(new URL(page.url()).searchParams.get("contains")).toBe("MAKTEN");
      expect(await words(page)).toContain("Försvarsmakten forbidden");
      await page.getByRole("link", { name: "Delete Försvarsmakten" }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      expect(await words(page)).toContain("The phrase is deleted.");
      await page.goBack();
      await page.goBack();
    });
  });

  it("a CSV file with two faults is refused with their lines, mended on the page, and imported", async () => {
    const file = join(folder, `fel-${script}.csv`);
    const word = `ord ${script}`;
    await writeFile(file, `language,phrase,forbidden\r\nsv,${word} ett,\r\nsv,,\r\nsv,${word} två,kanske\r\n`);
    await stack.browser.visit(`${base}/phrases/import`, { ...ida, script }, async (page) => {
      await page.getByLabel("CSV file").setInputFiles(file);
      await page.getByRole("button", { name: "Import" }).first().click();
      await page.getByRole("alert").waitFor();
      const told = await words(page);
      expect(told).toContain("Nothing was imported: 2 of 3 rows are invalid.");
      expect(told).toContain("Line 3 phrase It is required. sv,, Line 4 forbidden It must be true or false.");
      const rows = page.getByLabel("Rows of CSV");
      await rows.fill((await rows.inputValue()).replace("sv,,", `sv,${word} tre,`).replace("kanske", ""));
      await page.getByRole("button", { name: "Only check" }).first().click();
      expect(await words(page)).toContain("The 3 rows can be imported; nothing was written yet. New: 3");
      await page.getByRole("button", { name: "Import" }).first().click();
      expect(await words(page)).toContain("3 rows are imported. New: 3, changed: 0, as they were: 0.");
      await page.getByRole("link", { name: "See the phrases" }).click();
      expect(await words(page)).toContain(`${word} tre`);
      const saving = page.waitForEvent("download");
      await page.getByRole("link", { name: "Export" }).click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe("phrases.csv");
      expect(await readFile((await saved.path()) ?? "", "utf8")).toContain(`sv,${word} tre,`);
    });
  });

  it("the page that verifies a webhook calls a genuine one genuine", async () => {
    await stack.browser.visit(`${base}/trust-list`, { ...ida, script }, async (page) => {
      await page.getByRole("link", { name: "Verify a webhook" }).click();
      await page.getByLabel("Headers").fill(headers());
      await page.getByLabel("Body").fill(webhook.body.toString());
      await page.getByLabel("Secret of the endpoint").fill(secret);
      await page.getByRole("button", { name: "Verify" }).click();
      expect(await words(page)).toContain("Genuine: the platform sent it to this endpoint, and signed it.");
    });
  });

  it("the page that verifies a webhook names and links the checks that fail after a change of one letter", async () => {
    await stack.browser.visit(`${base}/trust-list/verify`, { ...ida, script }, async (page) => {
      await page.getByLabel("Headers").fill(headers());
      await page.getByLabel("Body").fill(webhook.body.toString().replace("inställd", "installd"));
      await page.getByRole("button", { name: "Verify" }).click();
      expect(await words(page)).toContain("Not genuine as it stands: 2 of 12 checks failed.");
      const failed = page.getByRole("status").getByRole("link");
      expect(await failed.allInnerTexts()).toEqual([
        "Body, by content-digest",
        "Snapshot, by the SHA-256 in the statement",
      ]);
      await failed.last().click();
      expect(await page.locator(":target").innerText()).toBe("Snapshot, by the SHA-256 in the statement");
    });
  });
});

it("the second of two people who edit a phrase is told of the first one's change, which stays", async () => {
  const kari = await stack.signIn("kari", { roles: "editor" });
  const url = await stack.browser.visit(`${base}/phrases/new?language=nb`, ida, async (page) => {
    await page.getByLabel("Phrase", { exact: true }).fill("tvist");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("status").waitFor();
    return page.url().split("?")[0]!;
  });
  await stack.browser.visit(url, kari, async (second) => {
    await stack.browser.visit(url, ida, async (first) => {
      await first.getByLabel("Description").fill("Ida was first");
      await first.getByRole("button", { name: "Save" }).click();
      await first.getByRole("status").waitFor();
    });
    await second.getByLabel("Description").fill("Kari was second");
    await second.getByRole("button", { name: "Save" }).click();
    expect(await words(second)).toContain("Somebody has changed or deleted this phrase since you opened it");
    expect(await second.getByLabel("Description").inputValue()).toBe("Kari was second");
    await second.goto(url);
    expect(await second.getByLabel("Description").inputValue()).toBe("Ida was first");
  });
});

it("the form of a new phrase, sent after the session ended, can be sent again without retyping", async () => {
  const guest = await stack.signIn("guest");
  await stack.browser.visit(`${base}/phrases/new?language=sv`, guest, async (page) => {
    await page.getByLabel("Phrase", { exact: true }).fill("mitt i allt");
    const { kept } = await stack.signIn("guest");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Add" }).click();
    expect(await words(page)).toContain("Your session has ended");
    expect(await words(page)).toContain("mitt i allt");
    await page.context().addCookies(typeof kept === "object" ? kept.cookies : []);
    await page.getByRole("button", { name: "Send it again" }).click();
    expect(await words(page)).toContain("The phrase is in the dictionary.");
  });
});

it("keyboard alone adds a phrase and deletes it", async () => {
  await stack.browser.visit(`${base}/phrases`, ida, async (page) => {
    await press(page, "New phrase");
    await tabTo(page, "Phrase");
    await page.keyboard.type("tangent");
    await page.keyboard.press("Tab");
    await page.keyboard.type("sv");
    await page.keyboard.press("Enter");
    await page.getByRole("status").waitFor();
    await press(page, "Delete");
    await press(page, "Delete");
    expect(await words(page)).toContain("The phrase is deleted.");
  });
});

it("keyboard alone verifies a webhook", async () => {
  await stack.browser.visit(`${base}/phrases`, ida, async (page) => {
    await press(page, "Trust list");
    await press(page, "Verify a webhook");
    await tabTo(page, "Headers");
    await page.keyboard.insertText(headers());
    await page.keyboard.press("Tab");
    await page.keyboard.insertText(webhook.body.toString());
    await press(page, "Verify");
    expect(await words(page)).toContain("The snapshot is genuine.");
  });
});

it("keyboard alone imports a file, finds a phrase, edits it, and exports", async () => {
  const file = join(folder, "keyboard.csv");
  await writeFile(file, "language,phrase\nsv,skrivmaskin\n");
  await stack.browser.visit(`${base}/phrases`, ida, async (page) => {
    await press(page, "Import");
    // The wait begins before the Tabs: the browser reports file choosers only a moment after the
    // wait has begun, and a chooser that opens sooner is lost.
    const chosen = page.waitForEvent("filechooser");
    await tabTo(page, "CSV file");
    const [chooser] = await Promise.all([chosen, page.keyboard.press("Enter")]);
    await chooser.setFiles(file);
    await press(page, "Import");
    expect(await words(page)).toContain("1 row of keyboard.csv is imported.");
    await press(page, "See the phrases");
    await tabTo(page, "contains");
    await page.keyboard.type("MASKIN");
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    await press(page, "skrivmaskin");
    await tabTo(page, "Description");
    await page.keyboard.type("Typed by keyboard");
    await press(page, "Save");
    expect(await words(page)).toContain("The phrase is saved.");
    await press(page, "Phrases");
    await tabTo(page, "Export");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    expect(await readFile((await saved.path()) ?? "", "utf8")).toContain("sv,skrivmaskin,");
  });
});
