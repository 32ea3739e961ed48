export interface PastedWebhook {
  /** `get` takes a name in lowercase. */
  readonly headers: { get(name: string): string | null };
  readonly headerCount: number;
  readonly body: string;
}

/**
 * A header as HTTP writes it (`name: value`), as curl prints it (`> name: value`), or as Node
 * prints an object.
 */
const headerLine = /^\s*(?:[<>*]\s)?(['"]?)([\w!#$%&'*+.^`|~-]+?)\1\s*:\s*(.*?)\s*$/;
const quoted = /^(['"])(.*)\1,?$/;

/**
 * Reads pasted text. The headers may be lines, or an object in JSON. When the body's field is
 * empty, a body after a blank line below the headers is used. White space around the body is
 * removed: the platform sends none, and pasting adds it.
 */
export function readPasted(headers: string, body: string): PastedWebhook {
  const [head, rest] = body.trim() === "" ? splitAtBlank(headers) : [headers, body];
  const found = fromJson(head) ?? fromLines(head);
  return { headers: { get: (name) => found.get(name) ?? null }, headerCount: found.size, body: rest.trim() };
}

function splitAtBlank(text: string): readonly [string, string] {
  const trimmed = text.trimStart();
  const blank = /\r?\n\s*\r?\n/.exec(trimmed);
  return blank ? [trimmed.slice(0, blank.index), trimmed.slice(blank.index + blank[0].length)] : [trimmed, ""];
}

function fromLines(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, , name, value = ""] = headerLine.exec(line) ?? [];
    if (name !== undefined) found.set(name.toLowerCase(), quoted.exec(value)?.[2] ?? value);
  }
  return found;
}

function fromJson(text: string): Map<string, string> | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const object: unknown = JSON.parse(text);
    if (typeof object !== "object" || object === null) return undefined;
    const headers = Object.entries(object).map(
      ([name, value]: [string, unknown]) =>
        [name.toLowerCase(), Array.isArray(value) ? value.join(",") : String(value)] as const,
    );
    return new Map(headers);
  } catch {
    return undefined;
  }
}
