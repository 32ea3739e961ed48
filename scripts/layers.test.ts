import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtempDisposable, symlink, writeFile } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { layers } from "./layers.ts";

const root = join(import.meta.dirname, "..");

/** Lints files in an otherwise empty copy of the repository; `files` has their texts by path. */
async function lint(files: Readonly<Record<string, string>>): Promise<string> {
  await using dir = await mkdtempDisposable(join(tmpdir(), "layers-"));
  for (const name of ["oxlint.config.ts", "package.json", "scripts/layers.ts"]) {
    await cp(join(root, name), join(dir.path, name));
  }
  await symlink(join(root, "node_modules"), join(dir.path, "node_modules"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir.path, path)), { recursive: true });
    await writeFile(join(dir.path, path), text);
  }
  const { stdout, stderr } = spawnSync(join(root, "node_modules/.bin/oxlint"), [], { cwd: dir.path, encoding: "utf8" });
  return stdout + stderr;
}

const foldersOf = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

function expectLayers(path: string): void {
  expect(Object.keys(layers[path] ?? {}).toSorted(), path).toEqual(foldersOf(path).toSorted());
}

describe("layers", () => {
  test("every folder of every service has its layer", () => {
    for (const service of readdirSync(join(root, "services"))) expectLayers(`services/${service}/src`);
  });

  test("every folder of a package that has several, and of the benchmarks, has its layer", () => {
    const packages = readdirSync(join(root, "packages")).filter((name) =>
      existsSync(join(root, `packages/${name}/src`)),
    );
    const roots = [...packages.map((name) => `packages/${name}/src`), "bench"];
    for (const each of roots.filter((each) => foldersOf(each).length > 1)) expectLayers(each);
  });

  const named = Object.entries(layers).map(([path, folders]) => {
    const [, name = path] = /^(?:services|packages)\/(.*)\/src$/.exec(path) ?? [];
    return [name, folders] as const;
  });
  test.each(named)("the table lets a folder of %s import only from folders that it lists before", (_, folders) => {
    const names = Object.keys(folders);
    for (const [index, [name, { imports, types = [] }]] of Object.entries(folders).entries()) {
      for (const other of [...imports, ...types]) expect(names.slice(0, index), name).toContain(other);
    }
  });

  test("the linter reports an import against the layers, a type's too, from whatever depth", async () => {
    const planted = await lint({
      "services/gateway/src/rates/rate.ts": 'import type { X } from "../http/route.ts";\nexport type Y = X;\n',
      "services/gateway/src/http/answers/a.ts": 'export { x } from "../../store/rows.ts";\n',
      "services/delivery/src/rpc/b.ts": 'import { x } from "../store/rows.ts";\nexport const y = [x];\n',
      "packages/kit/src/mongo/c.ts": 'export { x } from "../service/process.ts";\n',
      "packages/console/src/http/d.ts": 'export { x } from "../pages/routes.ts";\n',
      "packages/cli/src/doctor/e.ts": 'export { x } from "../commands/listen.ts";\n',
      "bench/load/f.ts": 'export { x } from "../stage/drafts.ts";\n',
    });
    const places = ["services/gateway/src/rates", "services/gateway/src/http", "services/delivery/src/rpc"];
    places.push("packages/kit/src/mongo", "packages/console/src/http", "packages/cli/src/doctor", "bench/load");
    for (const place of places) expect(planted).toContain(`${place} does not import from there`);
  });

  test("the linter reports no import along the layers, and no import of a store's type by rpc", async () => {
    const sound = await lint({
      "services/gateway/src/http/route.ts": 'import type { X } from "../rates/rate.ts";\nexport type Y = X;\n',
      "services/delivery/src/rpc/b.ts": 'import type { X } from "../store/rows.ts";\nexport type Y = X;\n',
    });
    expect(sound).not.toContain("does not import from there");
  });

  test("the linter reports two files that import each other's types as a cycle", async () => {
    const circle = await lint({
      "services/phrases/src/domain/a.ts": 'import type { B } from "./b.ts";\nexport type A = B | 1;\n',
      "services/phrases/src/domain/b.ts": 'import type { A } from "./a.ts";\nexport type B = A[];\n',
    });
    expect(circle).toContain("import(no-cycle)");
  });
});
