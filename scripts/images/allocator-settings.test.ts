import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allocatorSettingsOf } from "@vidimus/devstack/stack/allocator-settings";
import { expect, it } from "vitest";
import { images, workspaceOf } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** From name to value: the variables of glibc in lines `NAME=value`. */
const mallocLines = (text: string) =>
  Object.fromEntries(text.matchAll(/\b(MALLOC_\w+)=(\d+)/g).map(([, ...pair]) => pair));

it("the Containerfile gives images the allocator settings that the dev stack gives the gateway", () => {
  expect(mallocLines(read("deploy/images/Containerfile"))).toEqual(allocatorSettingsOf("gateway"));
});

it.each(images)("the manifests give %s the allocator settings that the dev stack gives it", (image) => {
  const folder = image === "console" ? "components/console" : workspaceOf(image).replace("services/", "base/");
  expect(mallocLines(read(`deploy/k8s/${folder}/settings.env`))).toEqual(allocatorSettingsOf(image));
});
