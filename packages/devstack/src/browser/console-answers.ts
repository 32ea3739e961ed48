import type { Page } from "playwright-core";
import { type AnswerSetting, type ConsoleAnswer, couldNot, send } from "./console-answer.ts";
import { settingsAnswers } from "./settings-answers.ts";

async function importRows(page: Page, base: string, rows: string, button: string): Promise<void> {
  await page.goto(`${base}/phrases/import`);
  const file = { name: "phrases.csv", mimeType: "text/csv", buffer: Buffer.from(rows) };
  await page.getByLabel("CSV file").setInputFiles(file);
  await send(page, button);
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

const ofPhrases: readonly ConsoleAnswer[] = [
  {
    name: "the faults of a phrase",
    says: couldNot,
    async open(page, { base, text }) {
      await page.goto(`${base}/phrases/new?language=sv_SE`);
      await page.getByLabel("Phrase", { exact: true }).fill(text);
      await send(page, "Add");
    },
  },
  {
    name: "a phrase that somebody else has changed",
    says: "Somebody has changed or deleted this phrase",
    async open(page, { base, text }) {
      await page.goto(`${base}/phrases/new?language=sv`);
      await page.getByLabel("Phrase", { exact: true }).fill(`${text} ${Date.now()}`);
      await send(page, "Add");
      await page.evaluate("document.querySelector('[name=read]').value = '2026-01-01T00:00:00.000Z'");
      await send(page, "Save");
    },
  },
  {
    name: "the faults of an import",
    says: "Mend the rows here",
    open: (page, { base, text }) =>
      importRows(
        page,
        base,
        `language,phrase,forbidden,description\nsv,Visby,,\nsv,,,\nsv,${quoted(text)},kanske,${quoted(text)}\n`,
        "Import",
      ),
  },
  {
    name: "an import that was only checked",
    says: "can be imported",
    open: (page, { base, text }) => importRows(page, base, `language,phrase\nsv,${quoted(text)}\n`, "Only check"),
  },
];

async function verify(page: Page, { base, webhook }: AnswerSetting): Promise<void> {
  await page.goto(`${base}/trust-list/verify`);
  await page.getByLabel("Headers").fill(webhook.headers);
  await page.getByLabel("Body").fill(webhook.body);
  await page.getByLabel("Secret of the endpoint").fill(webhook.secret);
  await send(page, "Verify");
}

const ofTrust: readonly ConsoleAnswer[] = [
  { name: "the checks of a webhook", says: "12 checks", open: verify },
  {
    name: "the faults of a webhook",
    says: couldNot,
    open: (page, setting) => verify(page, { ...setting, webhook: { headers: setting.text, body: "", secret: "" } }),
  },
];

const ofSessions: readonly ConsoleAnswer[] = [
  {
    name: "what a code signs in to",
    says: "The code is used up when you sign in",
    async open(page, { newLink }) {
      await page.context().clearCookies();
      await page.goto(await newLink());
    },
  },
  {
    name: "a code that has ended",
    says: couldNot,
    async open(page, { base }) {
      await page.goto(new URL("/sign-in", base).href);
      await page.getByLabel("One-time code").fill("gone");
      await send(page, "Continue");
    },
  },
  {
    name: "a form after the end of the session",
    says: "Your session has ended",
    async open(page, { base, text, receiver }) {
      await page.goto(`${base}/endpoints/new`);
      await page.getByLabel("URL").fill(receiver);
      await page.getByLabel("Name (optional)").fill(text);
      await page.getByText("Types, headers and limits").click();
      await page.getByLabel("Headers of its own").fill("x-token: secret");
      await page.context().clearCookies();
      await send(page, "Register the endpoint");
    },
  },
  {
    name: "a file after the end of the session",
    says: "Open the form again",
    async open(page, { base }) {
      await page.goto(`${base}/phrases/import`);
      await page
        .getByLabel("CSV file")
        .setInputFiles({ name: "a.csv", mimeType: "text/csv", buffer: Buffer.from("a") });
      await page.context().clearCookies();
      await send(page, "Import");
    },
  },
  {
    name: "the end of a session",
    says: "You are signed out",
    async open(page, { base }) {
      await page.goto(base);
      // Without its cookie the server cannot end the session, which other answers still need.
      await page.context().clearCookies();
      await send(page, "Sign out");
    },
  },
];

/** Opening them leaves keys, invitations, endpoints, replays and phrases in the tenant. */
export const consoleAnswers: readonly ConsoleAnswer[] = [...settingsAnswers, ...ofPhrases, ...ofTrust, ...ofSessions];
