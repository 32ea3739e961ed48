import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ApiKeySchema } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { expect, it } from "vitest";
import type { TenantCall } from "../../http/route.ts";
import { keyNotice } from "./key-notice.ts";

const now = new Date("2026-11-26T12:00:00Z");
const call = { now, at: (path: string) => path } as TenantCall;
const inDays = (days: number) => timestampFromDate(new Date(now.getTime() + days * 86_400_000));

function noticeOf(key: MessageInitShape<typeof ApiKeySchema>): string {
  const notice = keyNotice(create(ApiKeySchema, { createdAt: inDays(-8), ...key }), call);
  return (notice?.toString() ?? "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

it.each([
  ["made over a week ago and never used", {}, "A key was never used."],
  ["that ends within a week", { expiresAt: inDays(6), lastUsedAt: inDays(-1) }, "A key ends"],
  ["that ends within a week and was never used", { expiresAt: inDays(6) }, "was never used. Programs"],
])("a key %s has a notice", (_, key, text) => {
  expect(noticeOf(key)).toContain(text);
});

it.each([
  ["made within a week", { createdAt: inDays(-6) }],
  ["in use", { lastUsedAt: inDays(-30) }],
  ["in use that ends later than in a week", { lastUsedAt: inDays(-1), expiresAt: inDays(8) }],
  ["in use that ends because it was rolled", { lastUsedAt: inDays(-1), expiresAt: inDays(1), replacedBy: "next" }],
])("a key %s has no notice", (_, key) => {
  expect(noticeOf(key)).toBe("");
});
