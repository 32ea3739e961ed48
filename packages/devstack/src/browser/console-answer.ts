import type { Page } from "playwright-core";

/** The tenant whose pages are opened, and what their forms are filled with. */
export interface AnswerSetting {
  /** Address of a tenant's pages, such as `http://127.0.0.1:8090/t/demo`. */
  readonly base: string;
  /** Typed as name, note and phrase; at most 200 characters. */
  readonly text: string;
  /** URL at which every attempt fails, so that a replay keeps running. */
  readonly receiver: string;
  /** A webhook to verify: its headers as lines, its body, and the secret of its endpoint. */
  readonly webhook: { readonly headers: string; readonly body: string; readonly secret: string };
  /** Makes a link that signs in to the tenant once. */
  newLink(): Promise<string>;
}

/** A page that only a form leads to. */
export interface ConsoleAnswer {
  readonly name: string;
  /** Words that are on this page, and not on the page with its form. */
  readonly says: string;
  open(page: Page, setting: AnswerSetting): Promise<void>;
}

/** Opens an answer in the browser of an owner of the tenant, and waits until it is shown. */
export async function openAnswer(page: Page, { says, open }: ConsoleAnswer, setting: AnswerSetting): Promise<void> {
  await open(page, setting);
  await page.getByText(says).first().waitFor();
}

/** Heading of the faults that a page shows above its form. */
export const couldNot = "This could not be done";

export async function send(page: Page, name: string): Promise<void> {
  const button = page.getByRole("button", { name, exact: true }).first();
  await Promise.all([page.waitForEvent("load"), button.click()]);
}

export async function follow(page: Page, name: string | RegExp): Promise<void> {
  const link = page.getByRole("main").getByRole("link", { name, exact: true }).first();
  await Promise.all([page.waitForEvent("load"), link.click()]);
}
