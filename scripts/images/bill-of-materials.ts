import type { DebianPackage } from "./debian-packages.ts";
import type { NodeRelease } from "./node-release.ts";

/** A component of CycloneDX 1.5 with the members that are used here. */
interface Component {
  readonly type: "application" | "library" | "operating-system" | "container";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly cpe?: string;
  readonly hashes?: readonly { alg: "SHA-256"; content: string }[];
  readonly properties?: readonly { name: string; value: string }[];
  readonly components?: readonly Component[];
}

/** The content of an image besides npm packages. */
export interface ImageContent {
  readonly node: NodeRelease;
  /** From name, as in `process.versions`, to version: Node and what it contains. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly packages: readonly DebianPackage[];
  /** `ID` and `VERSION_ID` of /etc/os-release. */
  readonly system: { readonly id: string; readonly version: string };
  /** The base of the image, with its digest; absent for `ownBase`. */
  readonly base?: string;
}

/**
 * Adds to the output of `npm sbom`: Node, the libraries that Node is linked with, their system, and
 * the base.
 */
export function describeImage(npm: object, content: ImageContent): object {
  const { components = [] } = npm as { components?: readonly object[] };
  return { ...npm, components: [...components, ...componentsOf(content)] };
}

function componentsOf({ node, versions, packages, system, base }: ImageContent): Component[] {
  return [
    nodeComponent(node, versions),
    ...packages.map((each) => packageComponent(each, system)),
    ...(packages.length > 0 ? [systemComponent(system)] : []),
    ...(base === undefined ? [] : [baseComponent(base)]),
  ];
}

function nodeComponent(
  { version, archive, archiveSha256, nodeSha256 }: NodeRelease,
  versions: ImageContent["versions"],
) {
  const source = `https://nodejs.org/dist/v${version}/${archive}`;
  const query = `download_url=${encodeURIComponent(source)}&checksum=sha256:${archiveSha256}`;
  const purl = `pkg:generic/node@${version}?${query}`;
  return {
    type: "application",
    "bom-ref": purl,
    name: "node",
    version,
    purl,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    hashes: [{ alg: "SHA-256", content: nodeSha256 }],
    components: Object.entries(versions).flatMap(([name, inside]) =>
      inside === undefined || notLibraries.has(name) ? [] : [insideNode(name, inside)],
    ),
  } satisfies Component;
}

const notLibraries = new Set(["node", "modules", "napi", "unicode", "cldr", "tz"]);

function insideNode(name: string, version: string): Component {
  const purl = `pkg:generic/${name}@${encodeURIComponent(version)}`;
  return { type: "library", "bom-ref": `node/${purl}`, name, version, purl };
}

function packageComponent(
  { name, version, architecture, source }: DebianPackage,
  { id, version: release }: ImageContent["system"],
): Component {
  const query = `arch=${architecture}&distro=${id}-${release}&upstream=${source}`;
  const purl = `pkg:deb/${id}/${name}@${encodeURIComponent(version)}?${query}`;
  return { type: "library", "bom-ref": purl, name, version, purl };
}

function systemComponent({ id, version }: ImageContent["system"]): Component {
  return { type: "operating-system", "bom-ref": `system/${id}`, name: id, version };
}

function baseComponent(base: string): Component {
  const [name = base, digest = ""] = base.split("@");
  return { type: "container", "bom-ref": base, name, version: digest };
}
