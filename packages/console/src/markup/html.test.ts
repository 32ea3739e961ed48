import { expect, test } from "vitest";
import { html } from "./html.ts";

test.each([
  ["a script", `<script>alert(1)</script>`],
  ["the end of an attribute", `"><img src=x onerror=alert(1)>`],
  ["a single quote", "' onfocus=alert(1) x='"],
  ["a backquote", "` onfocus=alert(1)"],
  ["a character reference", "&lt;script&gt;"],
  ["Arabic with a mark of direction", "نشرة الأخبار \u202Eevil"],
  ["Japanese with an element", "速報 <b>ニュース</b>"],
])("%s is shown as text in an element, in an attribute and in a list", (_, text) => {
  const page = html`<p title="${text}">${text}</p>
    ${[text, html`<b>${text}</b>`]}`.toString();
  expect(page.replace(/<p title="[^"<>]*">[^<>]*<\/p>[^<>]*<b>[^<>]*<\/b>/, "")).toBe("");
  expect(page).not.toMatch(/[<"'`][^<>]*onerror=|onfocus=alert\(1\) x='/);
  const shown = page.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
  expect(shown.split(text)).toHaveLength(5);
});

test("undefined, false and an empty text show nothing, and 0 shows itself", () => {
  expect(html`<p>${undefined}${false}${0}${""}</p>`.toString()).toBe("<p>0</p>");
});

test("an exclamation mark before a value is shown, and does not switch escaping off", () => {
  expect(html`<p>!${"<b>"}</p>`.toString()).toBe("<p>!&#60;b&#62;</p>");
});

test("the indentation of a template is left out, and blanks and line breaks of a value stay", () => {
  const page = html`<ul>
    <li>${"a\n    b"}</li>

    <li>c</li>
  </ul>`;
  expect(page.toString()).toBe("<ul>\n<li>a\n    b</li>\n<li>c</li>\n</ul>");
});
