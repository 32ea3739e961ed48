import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtempDisposable, symlink, writeFile } from "node:fs/promises";
import { existsSync, globSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { depths, layers } from "./layers.ts";

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

  test("every folder of packages/kit/src/rpc and of packages/kit/src/rpc/doors has its layer", () => {
    for (const path of ["packages/kit/src/rpc", "packages/kit/src/rpc/doors"]) expectLayers(path);
  });

  test("no file stands deeper below a root of the layers than the linter checks", () => {
    const files = Object.keys(layers).flatMap((each) => globSync("*/**/*.ts", { cwd: join(root, each) }));
    expect(files.filter((file) => file.split("/").length - 1 > Math.max(...depths))).toEqual([]);
  });

  const named = Object.entries(layers).map(([path, folders]) => {
    const [, name = path] = /^(?:services|packages)\/(.*)\/src$/.exec(path) ?? [];
    return [name, folders] as const;
  });
  test.each(named)("a folder of %s may import only from folders that layers.ts lists before it", (_, folders) => {
    const names = Object.keys(folders);
    for (const [index, [name, { imports, types = [] }]] of Object.entries(folders).entries()) {
      for (const other of [...imports, ...types]) expect(names.slice(0, index), name).toContain(other);
    }
  });

  /** By folder: the rest of a file's path, and a text that the layers forbid there. */
  const against: Readonly<Record<string, readonly [path: string, text: string]>> = {
    "services/documents/src/checking": ["a.ts", 'export { x } from "../store/rows.ts";\n'],
    "services/documents/src/rpc": ["published/b.ts", 'import type { X } from "../../config.ts";\nexport type Y = X;\n'],
    "services/phrases/src/store": ["c.ts", 'export { x } from "../rpc/upsert-phrase.ts";\n'],
    "services/signing/src/custody": ["d.ts", 'import type { X } from "../store/rows.ts";\nexport type Y = X;\n'],
    "services/delivery/src/rpc": ["e.ts", 'import { x } from "../store/rows.ts";\nexport const y = [x];\n'],
    "services/delivery/src/lanes": ["f.ts", 'export { x } from "../config.ts";\n'],
    "services/gateway/src/rates": ["g.ts", 'import type { X } from "../http/route.ts";\nexport type Y = X;\n'],
    "services/gateway/src/http": ["answers/h.ts", 'export { x } from "../../store/rows.ts";\n'],
    "packages/kit/src/mongo": ["i.ts", 'export { x } from "../service/process.ts";\n'],
    "packages/kit/src/rpc": ["doors/teams/j.ts", 'export { x } from "../../../service/process.ts";\n'],
    "packages/kit/src/rpc/wire": ["k.ts", 'export { x } from "../client/client.ts";\n'],
    "packages/kit/src/rpc/doors": ["shared/l.ts", 'export { x } from "../../client/client.ts";\n'],
    "packages/kit/src/rpc/doors/mesh": ["m.ts", 'export { x } from "../teams/grants.ts";\n'],
    "packages/console/src/http": ["n.ts", 'export { x } from "../pages/routes.ts";\n'],
    "packages/console/src/rpc": ["o.ts", 'export { x } from "../config.ts";\n'],
    "packages/cli/src/doctor": ["p.ts", 'export { x } from "../commands/listen.ts";\n'],
    "packages/devstack/src/backing": ["q.ts", 'export { x } from "../stack/dev-stack.ts";\n'],
    "bench/load": ["r.ts", 'export { x } from "../stage/drafts.ts";\n'],
  };

  test("the linter reports an import against the layers, a type's too, one to three folders deep", async () => {
    const files = Object.entries(against).map(([folder, [path, text]]) => [`${folder}/${path}`, text] as const);
    const planted = await lint(Object.fromEntries(files));
    for (const folder of Object.keys(against)) expect(planted).toContain(`${folder} does not import from there`);
  });

  test("the linter accepts imports that the layers allow, types of a store by rpc among them", async () => {
    const sound = await lint({
      "services/gateway/src/http/route.ts": 'import type { X } from "../rates/rate.ts";\nexport type Y = X;\n',
      "services/delivery/src/rpc/b.ts": 'import type { X } from "../store/rows.ts";\nexport type Y = X;\n',
      "services/documents/src/rpc/published/c.ts": 'export { x } from "../requests.ts";\n',
      "packages/kit/src/rpc/doors/mesh/d.ts": 'export { x } from "../../grpc-internals.ts";\n',
      "packages/cli/src/commands/keys/e.ts": 'export { x } from "../../world.ts";\n',
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
