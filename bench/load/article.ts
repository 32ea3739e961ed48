import { randomUUID } from "node:crypto";

interface Article {
  readonly id: string;
  readonly type: "core/article";
  readonly title: string;
  readonly meta: { readonly slug: string; readonly language: string; readonly priority: number };
  readonly content: object;
  readonly links: readonly object[];
}

const sentence = "The boat did not sail today either. ";

/** Makes an article with about `bytes` bytes of JSON. */
export function article(bytes: number, id: string = randomUUID()): Article {
  const draft = {
    id,
    type: "core/article",
    title: "Ferry cancelled",
    meta: { slug: `ferry-${id}`, language: "en", priority: 3 },
    links: [{ rel: "subject", type: "core/tag", uri: "topic:ferry", title: "Ferries" }],
  } as const;
  return { ...draft, content: articleContent(bytes - JSON.stringify(draft).length) };
}

function articleContent(bytes: number): object {
  const text = sentence.repeat(Math.ceil(bytes / sentence.length)).slice(0, Math.max(1, bytes - 220));
  const length = Math.ceil(text.length / 4);
  const blocks = [0, 1, 2, 3].map((index) => ({
    type: "core/text",
    data: { html: text.slice(index * length, (index + 1) * length) },
  }));
  return { blocks };
}
