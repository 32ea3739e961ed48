/** One entity tag (RFC 9110, 8.8.3) at `lastIndex`; group 1 is the tag without its `W/`. */
const entityTag = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/y;

/**
 * What an `If-None-Match` names (RFC 9110, 13.1.2): "*" when it names every copy, else the listed
 * entity tags with their quotes and without their `W/`. A malformed field names nothing.
 */
export function parseEntityTags(field = ""): "*" | readonly string[] {
  const list = field.trim();
  if (list === "*") return "*";
  const tags: string[] = [];
  let needsComma = false;
  for (let at = 0; at < list.length;) {
    const char = list.charAt(at);
    if (char === "," || char === " " || char === "\t") {
      if (char === ",") needsComma = false;
      at += 1;
      continue;
    }
    entityTag.lastIndex = at;
    const [all, tag] = entityTag.exec(list) ?? [];
    if (needsComma || all === undefined || tag === undefined) return [];
    tags.push(tag);
    needsComma = true;
    at += all.length;
  }
  return tags;
}

/** Whether an `If-None-Match` names the copy with this tag, compared weakly (RFC 9110, 8.8.3.2). */
export function matchesEntityTag(ifNoneMatch: string | undefined, etag: string): boolean {
  const named = parseEntityTags(ifNoneMatch);
  return named === "*" || named.includes(etag.replace(/^W\//, ""));
}
