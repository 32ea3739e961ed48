import { randomUUID } from "node:crypto";

/** One document of the demonstration feed, as the body of `POST /v1/documents`. */
export interface FeedItem {
  readonly id: string;
  readonly type: string;
  readonly title: string | object;
  readonly meta: object;
  readonly content: object;
  readonly links?: readonly object[];
}

const text = (html: string, role?: string) => ({ type: "core/text", ...(role ? { role } : {}), data: { html } });

/** Ids are new and slugs end in `run`, so that the feed can be pushed again to one database. */
export function wireFeed(run: string): FeedItem[] {
  const tagId = randomUUID();
  const imageId = randomUUID();
  return [...newswire(), tag(tagId, run), image(imageId), audio(), site(run), ...articles(run, tagId, imageId)];
}

function newswire(): FeedItem[] {
  const items = [
    [
      "Ferry service to Gotska Sandön suspended after storm",
      "en",
      3,
      "Winds of 31 metres a second were measured overnight.",
    ],
    [
      "Färjetrafiken till Gotska Sandön inställd efter stormen",
      "sv",
      3,
      "Vindbyar på 31 meter i sekunden uppmättes i natt.",
    ],
    ["EILMELDUNG: Gotthardtunnel nach Felssturz gesperrt", "de", 1, "Die Sperrung gilt für beide Röhren."],
    ["الأمطار الغزيرة تغلق الطريق الساحلي", "ar", 2, "أغلقت السلطات الطريق بعد هطول أمطار غزيرة."],
    ["気象庁、太平洋沿岸に高潮注意報", "ja", 2, "満潮は午後六時ごろの見込み。"],
  ] as const;
  return items.map(([title, language, urgency, line], index) => ({
    id: randomUUID(),
    type: "core/newswire",
    title,
    meta: { source: "Küstennachrichten", origin: "demo-feed", priority: index + 1, urgency, language },
    content: { blocks: [text(line, "preamble")] },
  }));
}

function tag(id: string, run: string): FeedItem {
  return {
    id,
    type: "core/tag",
    title: "Weather",
    meta: { slug: `weather-${run}`, kind: "topic", language: "en" },
    content: { name: "Weather", description: "Storms, floods and the days between them." },
  };
}

function image(id: string): FeedItem {
  return {
    id,
    type: "core/image",
    title: "Waves over the breakwater",
    meta: { credit: "Ida Sjöberg / Küstennachrichten", mimeType: "image/jpeg", copyright: "© 2026" },
    content: {
      alt: "Grey waves breaking over a stone breakwater, a lighthouse behind",
      caption: "The breakwater at dawn.",
      renditions: [
        { name: "web", url: "https://media.example/waves-1200.jpg", mimeType: "image/jpeg", width: 1200, height: 800 },
      ],
      focus: { x: 0.4, y: 0.55 },
    },
  };
}

function audio(): FeedItem {
  return {
    id: randomUUID(),
    type: "core/audio",
    title: "Morning bulletin, 06:00",
    meta: { language: "en", mimeType: "audio/mpeg" },
    content: {
      durationMs: 184_500,
      streams: [{ url: "https://media.example/bulletin-0600.mp3", mimeType: "audio/mpeg", bitrateKbps: 128 }],
    },
  };
}

function site(run: string): FeedItem {
  return {
    id: randomUUID(),
    type: "core/publisher-site",
    title: "The Coast Daily",
    meta: { slug: `coast-daily-${run}`, hosts: [`coast-${run}.example`], language: "en", timezone: "Europe/Stockholm" },
    content: { name: "The Coast Daily", navigation: { primary: [{ label: "Weather", url: "/weather" }] } },
  };
}

function articles(run: string, tagId: string, imageId: string): FeedItem[] {
  const subject = { rel: "subject", type: "core/tag", id: tagId, title: "Weather" };
  const picture = { rel: "image", role: "main", type: "core/image", id: imageId };
  const article = (slug: string, language: string, title: string | object, paragraphs: string[]): FeedItem => ({
    id: randomUUID(),
    type: "core/article",
    title,
    meta: { slug: `${slug}-${run}`, language, newsValue: 3, byline: "Ida Sjöberg" },
    content: { blocks: paragraphs.map((paragraph, index) => text(paragraph, index === 0 ? "preamble" : undefined)) },
    links: [subject, picture],
  });
  return [
    article("storm-closes-ferry", "en", "Storm closes the ferry, islanders shrug", [
      "The boat did not sail for the third day running.",
      "“We have potatoes, we have coffee,” said the harbour master. “It will pass.” 🌊",
    ]),
    article("stormen-stanger-farjan", "sv", "Stormen stänger färjan, öborna rycker på axlarna", [
      "För tredje dagen i rad gick ingen båt.",
      "– Vi har potatis och vi har kaffe, säger hamnkaptenen.",
    ]),
    article("sturm-legt-faehre-lahm", "de", "Sturm legt die Fähre lahm", [
      "Zum dritten Mal in Folge blieb das Schiff im Hafen.",
    ]),
  ];
}
