import { describe, expect, test } from "vitest";
import { SlugTable } from "./slug-table.ts";

const type = "core/article";
const held = { type, slug: "old", documentId: "a", current: true };

describe("a slug", () => {
  test("is held by the document that claimed it, and is free for that document itself", () => {
    const slugs = new SlugTable([held]);
    expect(slugs.holder(type, "old", "b")).toBe("a");
    expect(slugs.holder(type, "old", "a")).toBeUndefined();
    expect(slugs.holder("core/tag", "old", "b")).toBeUndefined();
  });

  test("stays with a document that takes another one, retired, until another claims it", () => {
    const slugs = new SlugTable([held]);
    slugs.claim(type, "new", "a");
    expect(slugs.holder(type, "old", "b")).toBeUndefined();
    expect(slugs.changes()).toEqual([
      { ...held, current: false, isNew: false },
      { type, slug: "new", documentId: "a", current: true, isNew: true },
    ]);
    slugs.claim(type, "old", "b");
    expect(slugs.changes()).toContainEqual({ type, slug: "old", documentId: "b", current: true, isNew: false });
  });

  test("is free once its document is withdrawn", () => {
    const slugs = new SlugTable([held]);
    slugs.retire("a");
    expect(slugs.holder(type, "old", "b")).toBeUndefined();
  });

  test("that is claimed again changes nothing", () => {
    const slugs = new SlugTable([held]);
    slugs.claim(type, "old", "a");
    expect(slugs.changes()).toEqual([]);
  });
});
