import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const wcag22aa = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Violations of WCAG 2.2 A and AA that axe finds on a page: one line for each rule and element. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, { runOnly: ${JSON.stringify(wcag22aa)}, resultTypes: ["violations"] })`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
