import { describe, expect, test } from "vitest";
import { SlugTable } from "./slug-table.ts";

const type = "core/article";
const held = { type, slug: "old", documentId: "a" };

describe("a slug", () => {
  test("is held by the document that claimed it, and is free for that document itself", () => {
    const slugs = new SlugTable([held]);
    expect(slugs.holder(type, "old", "b")).toBe("a");
    expect(slugs.holder(type, "old", "a")).toBeUndefined();
    expect(slugs.holder("core/tag", "old", "b")).toBeUndefined();
  });

  test("is retired when its document takes another one, and then free for others", () => {
    const slugs = new SlugTable([held]);
    slugs.claim(type, "new", "a");
    expect(slugs.holder(type, "old", "b")).toBeUndefined();
    expect(slugs.holder(type, "new", "b")).toBe("a");
    slugs.claim(type, "old", "b");
    expect(slugs.holder(type, "old", "a")).toBe("b");
    expect(slugs.retired()).toEqual([held]);
  });

  test("is retired when its document is withdrawn", () => {
    const slugs = new SlugTable([held]);
    slugs.claim(type, undefined, "a");
    expect(slugs.holder(type, "old", "b")).toBeUndefined();
    expect(slugs.retired()).toEqual([held]);
  });

  test("that its document claims again is not retired", () => {
    const slugs = new SlugTable([held]);
    slugs.claim(type, "old", "a");
    expect(slugs.holder(type, "old", "b")).toBe("a");
    expect(slugs.retired()).toEqual([]);
  });
});
