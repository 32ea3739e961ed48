import { describe, expect, test } from "vitest";
import { SlugTable } from "./slug-table.ts";

const type = "core/article";
const held = { type, slug: "old", documentId: "a" };

describe("a slug", () => {
  test("is taken for other documents of its type, and free for the document that has it", () => {
    const slugs = new SlugTable([held]);
    expect(slugs.holder(type, "old", "b")).toBe("a");
    expect(slugs.holder(type, "old", "a")).toBeUndefined();
    expect(slugs.holder("core/tag", "old", "b")).toBeUndefined();
  });

  test("is retired when its document takes another slug, and is then free for other documents", () => {
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
