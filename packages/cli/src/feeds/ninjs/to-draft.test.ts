import { expect, test } from "vitest";
import { toDraft } from "./to-draft.ts";

const uri = "http://wire.example/items/1";

test("the members of a text item become title, meta and content of a core/newswire", () => {
  const draft = toDraft({
    uri,
    type: "text",
    version: "4",
    versionCreated: "2026-01-05T10:00:00+01:00",
    firstCreated: "2026-01-05T09:00:00Z",
    embargoed: "2026-01-06T00:00:00Z",
    expires: "2027-01-05T00:00:00Z",
    pubStatus: "usable",
    urgency: 3,
    language: "nb-NO",
    slugline: "skjelv",
    located: "Tromsø",
    by: "Kari Nord",
    edNote: "Ny versjon.",
    copyrightHolder: "Nordwire",
    copyrightNotice: "",
    usageTerms: "Kun for abonnenter.",
    genres: [{ name: "Nyheter" }],
    headlines: [
      { role: "short", value: "Skjelv" },
      { role: "main", value: "Jordskjelv ved Tromsø" },
    ],
    descriptions: [{ role: "lead", value: "Ingen er skadd." }],
    bodies: [
      { role: "nitf", contentType: "text/vnd.IPTC.NITF", value: "<nitf/>" },
      { role: "text", contentType: "text/plain; charset=utf-8", value: "Skjelvet varte i fire sekunder." },
      { role: "xhtml", contentType: "text/html", value: "<p>Skjelvet varte i fire sekunder.</p>" },
    ],
  });
  expect(draft).toStrictEqual({
    id: "77f7c523-3429-4fd2-872d-0e1c144f7b43",
    type: "core/newswire",
    title: "Jordskjelv ved Tromsø",
    meta: {
      source: "Nordwire",
      origin: "ninjs",
      externalId: uri,
      externalVersion: "4",
      issuedAt: "2026-01-05T10:00:00+01:00",
      firstCreatedAt: "2026-01-05T09:00:00Z",
      embargoUntil: "2026-01-06T00:00:00Z",
      expiresAt: "2027-01-05T00:00:00Z",
      urgency: 3,
      language: "nb-NO",
      slugline: "skjelv",
      located: "Tromsø",
      byline: "Kari Nord",
      edNote: "Ny versjon.",
      genres: ["Nyheter"],
      description: "Ingen er skadd.",
      copyright: { holder: "Nordwire", usageTerms: "Kun for abonnenter." },
      ninjs: {
        headlines: [{ role: "short", value: "Skjelv" }],
        bodies: [{ role: "nitf", contentType: "text/vnd.IPTC.NITF", value: "<nitf/>" }],
      },
    },
    content: { html: "<p>Skjelvet varte i fire sekunder.</p>", text: "Skjelvet varte i fire sekunder." },
    links: [],
  });
});

test("the description of a text item without bodies becomes the text of the document", () => {
  const { type, content, meta } = toDraft({ uri, type: "text", descriptions: [{ role: "text", value: "Kort." }] });
  expect({ type, content, meta }).toMatchObject({ type: "core/newswire", content: { text: "Kort." } });
  expect(meta).not.toHaveProperty("description");
});

test.each([
  ["the type composite", { type: "composite" }],
  ["no type", {}],
])("an item with bodies and %s becomes a core/newswire", (_, type) => {
  expect(toDraft({ uri, bodies: [{ value: "Text." }], ...type })).toMatchObject({
    type: "core/newswire",
    content: { text: "Text." },
  });
});

test.each([
  [{ type: "event", bodies: [{ value: "x" }] }, 'is of type "event"'],
  [{ type: "video" }, 'is of type "video"'],
  [{ type: "graphic" }, 'is of type "graphic"'],
  [{ type: "toString" }, 'is of type "toString"'],
  [{ title: "Match", eventDetails: {} }, "has no type and no bodies"],
  [{ bodies: [] }, "has no type and no bodies"],
])("the item %j is unmappable: it %s", (item, reason) => {
  expect(() => toDraft({ uri, ...item })).toThrow(
    expect.objectContaining({ message: expect.stringContaining(reason), unmappable: true }),
  );
});

test("an item whose embargo cannot be read is refused as damaged", () => {
  const item = { uri, type: "text", embargoed: "tomorrow" };
  expect(() => toDraft(item)).toThrow(
    expect.objectContaining({ message: expect.stringContaining("tomorrow"), unmappable: false }),
  );
});

test("a picture becomes a core/image with alternative text, credit, focus and renditions", () => {
  const draft = toDraft({
    uri,
    type: "picture",
    by: "Ola Foto",
    copyrightHolder: "Nordwire",
    copyrightNotice: "© Nordwire",
    edNote: "NORWAY OUT",
    contentCreated: "2026-01-05T08:00:00Z",
    headlines: [{ value: "Havna" }],
    descriptions: [{ role: "caption", value: "Havna i Tromsø mandag." }],
    renditions: [
      { name: "thumb", href: "http://i.example/t.jpg", contentType: "image/jpeg", width: 100, height: 50 },
      {
        name: "main",
        href: "http://i.example/m.jpg",
        contentType: "image/jpeg",
        width: 4000,
        height: 2000,
        sizeInBytes: 900_000,
        poi: { x: 1000, y: 500 },
        originalFilename: "DSC_1.JPG",
      },
      { name: "caption_nitf", href: "http://i.example/c.xml", contentType: "text/xml" },
    ],
  });
  expect(draft).toMatchObject({
    type: "core/image",
    title: "Havna",
    meta: {
      source: "Nordwire",
      byline: "Ola Foto",
      credit: "Ola Foto/Nordwire",
      copyright: "© Nordwire",
      instructions: "NORWAY OUT",
      takenAt: "2026-01-05T08:00:00Z",
      mimeType: "image/jpeg",
      filename: "DSC_1.JPG",
      ninjs: { renditions: [{ name: "caption_nitf", href: "http://i.example/c.xml", contentType: "text/xml" }] },
    },
    content: {
      alt: "Havna i Tromsø mandag.",
      caption: "Havna i Tromsø mandag.",
      focus: { x: 0.25, y: 0.25 },
      renditions: [
        { name: "thumb", url: "http://i.example/t.jpg", mimeType: "image/jpeg", width: 100, height: 50 },
        { name: "main", url: "http://i.example/m.jpg", width: 4000, height: 2000, sizeBytes: 900_000 },
      ],
    },
  });
  expect(draft.meta).not.toHaveProperty("edNote");
});

test("a picture's credit line, description and plain body become its credit, caption and alternative text", () => {
  const { meta, content } = toDraft({
    uri,
    type: "picture",
    by: "Ola Foto",
    descriptions: [
      { role: "creditline", value: "NORDWIRE" },
      { role: "text", value: "Lang bildetekst." },
    ],
    bodies: [{ contentType: "text/plain", value: "Båter ved kai" }],
  });
  expect([meta["credit"], content["alt"], content["caption"]]).toEqual([
    "NORDWIRE",
    "Båter ved kai",
    "Lang bildetekst.",
  ]);
});

test("an audio item becomes a core/audio with streams and a duration in milliseconds", () => {
  const stream = {
    href: "http://a.example/1.mp3",
    contentType: "audio/mpeg",
    sizeInBytes: 160_000,
    duration: 10,
    audioBitRate: 128,
  };
  const draft = toDraft({
    uri,
    type: "audio",
    infoSources: [{ name: "Nordwire" }],
    descriptions: [{ role: "caption", value: "Ordføreren." }],
    renditions: [stream],
  });
  expect(draft).toMatchObject({
    type: "core/audio",
    meta: { source: "Nordwire", credit: "Nordwire", mimeType: "audio/mpeg" },
    content: {
      description: "Ordføreren.",
      durationMs: 10_000,
      streams: [
        {
          name: "rendition-1",
          url: "http://a.example/1.mp3",
          mimeType: "audio/mpeg",
          sizeBytes: 160_000,
          bitrateKbps: 128,
        },
      ],
    },
  });
});

test("a duration that in seconds would mean 192 bits a second is read as milliseconds", () => {
  const renditions = [
    { href: "http://a.example/1.mp3", contentType: "audio/mpeg", sizeInBytes: 189_504, duration: 7896 },
  ];
  expect(toDraft({ uri, type: "audio", renditions }).content).toMatchObject({ durationMs: 7896 });
});

test("subjects, sources and associations with a uri or rendition become links with their other members", () => {
  const { links, meta } = toDraft({
    uri,
    type: "text",
    infoSources: [{ name: "Nordwire", uri: "http://nordwire.example", role: "distributor" }],
    subjects: [
      { name: "earthquake", uri: "http://cv.iptc.org/newscodes/mediatopic/20000151", rel: "about", relevance: 90 },
      { name: "Innenriks" },
    ],
    associations: [
      { name: "a1", uri: "http://wire.example/p/1", type: "picture", headlines: [{ value: "Havna" }], by: "Ola Foto" },
      { name: "a2", type: "video", renditions: [{ href: "http://v.example/1.mp4" }] },
      { name: "a3", uri: "http://wire.example/items/0" },
      { name: "a4" },
    ],
  });
  expect(links).toEqual([
    {
      rel: "source",
      type: "core/content-source",
      uri: "http://nordwire.example",
      title: "Nordwire",
      data: { role: "distributor" },
    },
    {
      rel: "subject",
      type: "core/tag",
      uri: "http://cv.iptc.org/newscodes/mediatopic/20000151",
      title: "earthquake",
      data: { rel: "about", relevance: 90 },
    },
    {
      rel: "image",
      type: "core/image",
      uri: "http://wire.example/p/1",
      title: "Havna",
      role: "a1",
      data: { type: "picture", headlines: [{ value: "Havna" }], by: "Ola Foto" },
    },
    {
      rel: "video",
      type: "core/video",
      url: "http://v.example/1.mp4",
      role: "a2",
      data: { type: "video", renditions: [{ href: "http://v.example/1.mp4" }] },
    },
    { rel: "related", type: "core/newswire", uri: "http://wire.example/items/0", role: "a3" },
  ]);
  expect(meta["ninjs"]).toEqual({ subjects: [{ name: "Innenriks" }], associations: [{ name: "a4" }] });
});

test("members of an item that fit nowhere else in the document go unchanged into meta.ninjs", () => {
  const odd = {
    title: "Item 17",
    pubStatus: "canceled",
    urgency: "4",
    language: "norsk (bokmål)",
    versionCreated: "yesterday",
    by: 7,
    subjects: "earthquake",
    people: [{ name: "Kari Nord", contactInfo: [{ type: "phone", value: "1" }] }],
    rightsInfo: { linkedRights: "http://wire.example/rights" },
    genres: [{ name: "Nyheter", literal: "NYH" }],
    altIds: [{ role: "transmission", value: "a0f2" }],
    vendor_extension: { deep: [1, null] },
  };
  const { meta, title } = toDraft({ uri, type: "composite", version: "1", headlines: [{ value: "Skjelv" }], ...odd });
  expect(meta["ninjs"]).toEqual({ type: "composite", ...odd });
  expect([title, meta["genres"]]).toEqual(["Skjelv", ["Nyheter"]]);
});

test.each([
  ["an HTML headline", "A & b", { headlines: [{ contentType: "text/html", value: "<em>A</em> &amp; b" }], title: "T" }],
  ["an empty headline and a title", "T", { headlines: [{ role: "main", value: "" }], title: "T", slugline: "s" }],
  ["only a slugline", "s", { slugline: "s" }],
  ["no headline, title or slugline", uri, {}],
])("a text item with %s has the title %s", (_, title, members) => {
  expect(toDraft({ uri, type: "text", ...members }).title).toBe(title);
});

test("a slugline that serves as title also stays the slugline in meta", () => {
  expect(toDraft({ uri, type: "text", slugline: "s" }).meta).toMatchObject({ slugline: "s" });
});
