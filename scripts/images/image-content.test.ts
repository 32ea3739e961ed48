import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { checkBase, ownBase } from "./base-image.ts";
import { describeImage } from "./bill-of-materials.ts";
import { debianPackagesOf } from "./debian-packages.ts";
import { checkNode, nodeReleaseFor } from "./node-release.ts";
import { images, libraries, neededBy, stageContext, stageLibraries, workspaceOf } from "./stage-context.ts";

const root = join(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "vidimus-image-content-"));
afterAll(() => rmSync(dir, { recursive: true }));

describe("Node", () => {
  it("has checksums for x64 and arm64 of the version that package.json pins", () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const architecture of ["x64", "arm64"]) {
      const { version, archive, archiveSha256, nodeSha256 } = nodeReleaseFor(architecture);
      expect(optionalDependencies[`node-linux-${architecture}`]).toBe(version);
      expect(archive).toBe(`node-v${version}-linux-${architecture}.tar.xz`);
      for (const checksum of [archiveSha256, nodeSha256]) expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it("for an architecture without checksums is refused", () => {
    expect(() => nodeReleaseFor("riscv64")).toThrow("no checksums of Node for riscv64");
  });

  it("is refused when it is not the program of the official release", async () => {
    const program = join(dir, "node");
    const release = nodeReleaseFor("x64");
    writeFileSync(program, "not Node");
    await expect(checkNode(program, release)).rejects.toThrow(`in ${release.archive} is ${release.nodeSha256}`);
  });

  it.runIf(process.platform === "linux")("on this machine is the program of the official release", async () => {
    await expect(checkNode(process.execPath, nodeReleaseFor(process.arch))).resolves.toBeUndefined();
  });

  it("is put into no build context when it is not the program of the official release", async () => {
    const context = join(dir, "context");
    const { execPath } = process;
    onTestFinished(() => void (process.execPath = execPath));
    process.execPath = join(dir, "other-node");
    writeFileSync(process.execPath, "not Node");
    await expect(stageContext(context, ownBase)).rejects.toThrow("other-node has SHA-256");
    expect(existsSync(context)).toBe(false);
  });
});

describe("the workspaces of an image", () => {
  it("are the program's own and those that it needs, each once, for the gateway and the console", async () => {
    const found = await Promise.all(images.map(async (image) => [image, await neededBy(workspaceOf(image))] as const));
    const { gateway, console: ofConsole } = Object.fromEntries(found);
    expect(gateway?.toSorted()).toEqual(["packages/contracts", "packages/kit", "packages/tenancy", "services/gateway"]);
    expect(ofConsole?.toSorted()).toEqual([
      "packages/console",
      "packages/contracts",
      "packages/kit",
      "packages/verify",
    ]);
  });
});

describe("a base", () => {
  const digest = `sha256:${"0a".repeat(32)}`;

  it.each([
    ["of our own", ownBase],
    ["named by its digest", `gcr.io/distroless/cc-debian13@${digest}`],
    ["named by port, tag and digest", `registry:5000/base:nonroot@${digest}`],
  ])("%s is accepted", (_how, base) => expect(() => checkBase(base)).not.toThrow());

  it.each(["gcr.io/distroless/cc-debian13:nonroot", "debian", "base@sha256:0a", `@${digest}`, ""])(
    "%j is refused",
    (base) => expect(() => checkBase(base)).toThrow(/by its digest/),
  );
});

describe("the bill of materials", () => {
  const glibc = {
    name: "libc6",
    version: "2.36-9+deb12u14",
    architecture: "amd64",
    source: "glibc",
    entry: "Package: libc6",
  };
  const content = {
    node: nodeReleaseFor("x64"),
    versions: { node: "26.10.0", openssl: "3.5.4", modules: "147" },
    packages: [glibc],
    system: { id: "debian", version: "12" },
  };
  const npm = { bomFormat: "CycloneDX", components: [{ name: "fastify" }] };
  const namesOf = (bom: object) => (bom as { components: { name: string }[] }).components.map(({ name }) => name);

  it("names Node, glibc and the system beside the packages of npm", () => {
    expect(namesOf(describeImage(npm, content))).toEqual(["fastify", "node", "libc6", "debian"]);
  });

  const componentsOf = (bom: object) => (bom as { components: Record<string, unknown>[] }).components;

  it("names Node with its CPE, its checksum and the libraries in it", () => {
    expect(componentsOf(describeImage(npm, content))[1]).toMatchObject({
      cpe: "cpe:2.3:a:nodejs:node.js:26.10.0:*:*:*:*:*:*:*",
      hashes: [{ alg: "SHA-256", content: content.node.nodeSha256 }],
      components: [{ name: "openssl", version: "3.5.4" }],
    });
  });

  it("names a Debian package by a package URL with its distribution and its source package", () => {
    expect(componentsOf(describeImage(npm, content))[2]).toMatchObject({
      purl: "pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12&upstream=glibc",
    });
  });

  it("names a base that is given by its digest", () => {
    const base = `gcr.io/distroless/cc-debian13@sha256:${"0a".repeat(32)}`;
    expect(namesOf(describeImage(npm, { ...content, packages: [], base }))).toEqual([
      "fastify",
      "node",
      "gcr.io/distroless/cc-debian13",
    ]);
  });
});

describe.runIf(process.platform === "linux")("the libraries of a base", () => {
  it("are refused when one belongs to no Debian package", () => {
    expect(() => debianPackagesOf([join(dir, "node")])).toThrow(/no Debian package has/);
  });

  it.runIf(existsSync("/usr/bin/dpkg"))(
    "are copied with the entries of their packages in dpkg's database",
    async () => {
      const into = join(dir, "base");
      const packages = await stageLibraries(libraries(), into);
      const names = packages.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["libc6", "libstdc++6"]));
      const database = join(into, "var/lib/dpkg/status.d");
      expect(readdirSync(database).toSorted()).toEqual(names.toSorted());
      for (const { name, version, entry } of packages) {
        expect(entry).toContain(`\nVersion: ${version}\n`);
        expect(readFileSync(join(database, name), "utf8")).toBe(`${entry}\n`);
      }
      for (const path of libraries())
        expect(readFileSync(join(into, path)).equals(readFileSync(path)), path).toBe(true);
    },
  );
});
