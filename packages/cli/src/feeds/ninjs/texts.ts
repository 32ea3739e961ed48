import { someText } from "../json.ts";
import type { NinjsItem, RoleText } from "./ninjs-item.ts";

const htmlTypes = new Set(["text/html", "text/html5", "application/xhtml+xml"]);
const htmlRoles = new Set(["html", "html5", "xhtml"]);

/** Whether a text is HTML, by its contentType, or by its role if it has no contentType. */
export function isHtml({ contentType, role }: RoleText): boolean {
  return contentType === undefined ? htmlRoles.has(role ?? "") : htmlTypes.has(contentType);
}

/** Whether a text is plain: by its contentType, or without one by its role and its beginning. */
export function isPlain(text: RoleText): boolean {
  const { contentType, value } = text;
  return contentType === "text/plain" || (contentType === undefined && !isHtml(text) && !value.startsWith("<"));
}

/**
 * Makes a test for plain texts in one of several roles; `undefined` stands for a text without a
 * role.
 */
export function plainIn(...roles: readonly (string | undefined)[]): (text: RoleText) => boolean {
  return (text) => isPlain(text) && roles.includes(text.role);
}

/** Takes the headline. Without a headline returns the title, else the slugline, else the uri. */
export function takeTitle(item: NinjsItem): string {
  const plain = item.roleText("headlines", plainIn("main", undefined), isPlain);
  const headline = plain ?? textOf(item.roleText("headlines", isHtml));
  const { title, slugline } = item.original;
  return headline ?? someText(title) ?? someText(slugline) ?? item.uri;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function textOf(html: string | undefined): string | undefined {
  const bare = html
    ?.replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (all, name) => entities[name] ?? all);
  return someText(bare);
}
