import { isJsonObject, type JsonObject, type JsonValue } from "../json/json-value.ts";

/**
 * Members that contain a node's children: in ProseMirror `content`, in Slate and Lexical
 * `children`, in Draft.js `blocks`.
 */
const childMembers = ["content", "children", "blocks"] as const;

/** Types of nodes that get no spaces around them; undefined for a node without a type. */
const inlineTypes: ReadonlySet<JsonValue | undefined> = new Set([
  "text",
  "link",
  "autolink",
  "mention",
  "emoji",
  undefined,
]);

/**
 * The plain text of a rich text document: an object that is a node, or has one as `root`, with
 * children under `content`, `children` or `blocks`, and `text` in its leaves. Runs of white space
 * become one space.
 *
 * @returns undefined when the object is no such document or has no text
 */
export function flattenTitle(title: JsonObject): string | undefined {
  const root = isJsonObject(title["root"]) ? title["root"] : title;
  if (!childMembers.some((name) => Array.isArray(root[name]))) return undefined;
  const text = nodeText(root).replaceAll(/\s+/g, " ").trim();
  return text === "" ? undefined : text;
}

function nodeText(node: JsonValue): string {
  if (!isJsonObject(node)) return "";
  if (typeof node["text"] === "string") return node["text"];
  const text = childMembers.map((name) => childrenText(name, node[name])).join("");
  return inlineTypes.has(node["type"]) ? text : ` ${text} `;
}

/**
 * `nodeText` puts no spaces around a node that has text itself. Blocks of Draft.js are such nodes,
 * so the spaces between them are added here.
 */
function childrenText(name: (typeof childMembers)[number], children: JsonValue = []): string {
  const texts = (Array.isArray(children) ? children : [children]).map(nodeText);
  return texts.join(name === "blocks" ? " " : "");
}
