import type { Page } from "playwright-core";
import { type AnswerSetting, type ConsoleAnswer, couldNot, follow, send } from "./console-answer.ts";

const badUrl = "http://user:pass@127.0.0.1/hook";

async function makeKey(page: Page, { base, text }: AnswerSetting): Promise<void> {
  await page.goto(`${base}/keys/new`);
  await page.getByLabel("Name").fill(text);
  await page.getByLabel("publisher:read").check();
  await send(page, "Make the key");
}

const ofKeys: readonly ConsoleAnswer[] = [
  { name: "the secret of a new key", says: "is shown this once", open: makeKey },
  {
    name: "the faults of a key",
    says: couldNot,
    async open(page, { base, text }) {
      await page.goto(`${base}/keys/new`);
      await page.getByLabel("Name").fill(text);
      await send(page, "Make the key");
    },
  },
  {
    name: "the secret of a rolled key",
    says: "has a new key",
    async open(page, setting) {
      await makeKey(page, setting);
      await follow(page, "I have stored it");
      await follow(page, /^Roll /);
      await send(page, "Roll the key");
    },
  },
  {
    name: "the faults of a key's scopes",
    says: couldNot,
    async open(page, setting) {
      await makeKey(page, setting);
      await follow(page, "I have stored it");
      await follow(page, setting.text);
      await follow(page, "Change scopes");
      await page.getByLabel("publisher:read").uncheck();
      await send(page, "Change the scopes");
    },
  },
];

async function invite(page: Page, { base, text }: AnswerSetting): Promise<void> {
  await page.goto(`${base}/members/invite`);
  await page.getByLabel("For whom").fill(text);
  await page.getByLabel("editor").check();
  await send(page, "Make the invitation");
}

const ofMembers: readonly ConsoleAnswer[] = [
  { name: "the link of an invitation", says: "is shown this once", open: invite },
  {
    name: "the faults of an invitation",
    says: couldNot,
    async open(page, { base, text }) {
      await page.goto(`${base}/members/invite`);
      await page.getByLabel("For whom").fill(text);
      await send(page, "Make the invitation");
    },
  },
  {
    name: "an invitation that was opened",
    says: "You are invited to",
    async open(page, setting) {
      await invite(page, setting);
      await page.goto(await page.getByRole("textbox", { name: "Link of the invitation" }).inputValue());
    },
  },
  {
    name: "an invitation that has ended",
    says: couldNot,
    async open(page, { base }) {
      await page.goto(new URL("/invitation", base).href);
      await page.getByLabel("Code of the invitation").fill("gone");
      await send(page, "Open the invitation");
    },
  },
  {
    name: "the faults of a member's roles",
    says: couldNot,
    async open(page, { base }) {
      await page.goto(`${base}/members`);
      await follow(page, /^Change the roles of /);
      await page.getByLabel("Other roles (optional)").fill("no spaces!");
      await send(page, "Change the roles");
    },
  },
];

async function register(page: Page, { base, text, receiver }: AnswerSetting): Promise<void> {
  await page.goto(`${base}/endpoints/new`);
  await page.getByLabel("URL").fill(receiver);
  await page.getByLabel("Name (optional)").fill(text);
  await send(page, "Register the endpoint");
}

async function openEndpoint(page: Page, setting: AnswerSetting): Promise<void> {
  await register(page, setting);
  await follow(page, "I have stored it");
}

const ofEndpoints: readonly ConsoleAnswer[] = [
  { name: "the secret of a new endpoint", says: "is shown this once", open: register },
  {
    name: "a form that was sent before",
    says: "made by the first click",
    async open(page, setting) {
      await register(page, setting);
      await page.reload();
    },
  },
  {
    name: "the faults of a new endpoint",
    says: couldNot,
    open: (page, setting) => register(page, { ...setting, receiver: badUrl }),
  },
  {
    name: "the faults of an endpoint's settings",
    says: couldNot,
    async open(page, setting) {
      await openEndpoint(page, setting);
      await follow(page, "Edit");
      await page.getByLabel("URL").fill(badUrl);
      await send(page, "Save");
    },
  },
  {
    name: "a new secret of an endpoint",
    says: "has a new secret",
    async open(page, setting) {
      await openEndpoint(page, setting);
      await follow(page, "Rotate the secret");
      await send(page, "Rotate the secret");
    },
  },
  {
    name: "a ping that was refused",
    says: "Post another ping",
    async open(page, setting) {
      await openEndpoint(page, setting);
      await send(page, "Post a ping");
    },
  },
  {
    name: "the faults of a replay",
    says: couldNot,
    async open(page, setting) {
      await openEndpoint(page, setting);
      await follow(page, "New replay");
      await page.getByLabel("Everything").check();
      await send(page, "Count what it would send");
      const counted = page.url();
      // The first replay runs while the receiver refuses it, so a second one is refused.
      for (let count = 0; count < 2; count += 1) {
        await page.goto(counted);
        await send(page, "Start the replay");
      }
    },
  },
];

export const settingsAnswers: readonly ConsoleAnswer[] = [...ofKeys, ...ofMembers, ...ofEndpoints];
