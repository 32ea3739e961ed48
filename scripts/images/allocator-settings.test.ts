import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allocatorSettingsOf } from "@vidimus/devstack/stack/allocator-settings";
import { expect, it } from "vitest";
import { images, workspaceOf } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Lines of `NAME=value` of the variables that glibc reads. */
const mallocLines = (text: string) =>
  Object.fromEntries(text.matchAll(/\b(MALLOC_\w+)=(\d+)/g).map(([, ...pair]) => pair));

it("an image starts Node with the settings of glibc that every service has", () => {
  expect(mallocLines(read("deploy/images/Containerfile"))).toEqual(allocatorSettingsOf("gateway"));
});

it.each(images)("the manifests give %s the settings of glibc that the dev stack gives it", (image) => {
  const folder = image === "console" ? "components/console" : workspaceOf(image).replace("services/", "base/");
  expect(mallocLines(read(`deploy/k8s/${folder}/settings.env`))).toEqual(allocatorSettingsOf(image));
});
