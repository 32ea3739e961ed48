/** The value of a hidden field; throws without one. */
export function hiddenOf(page: string, name: string): string {
  return required(page, new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`));
}

/** The value of the input, or the text of the textarea, with an id; throws without one. */
export function fieldOf(page: string, id: string): string {
  return required(
    page,
    new RegExp(`(?:<input\\s+id="${id}"[^>]*\\svalue="|<textarea\\s+id="${id}"[^>]*>)([^"<]*)["<]`),
  );
}

/** The text of the `pre` with an id. */
export function textOf(page: string, id: string): string {
  return required(page, new RegExp(`<pre\\s+id="${id}"[^>]*>([^<]*)</pre`));
}

function required(page: string, pattern: RegExp): string {
  const [, found] = pattern.exec(page) ?? [];
  if (found === undefined) throw new Error(`${pattern.source} is not on the page: ${page.replace(/\s+/g, " ")}`);
  return found.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
