import { basename, dirname } from "node:path/posix";

/** What the files of a folder may import: names of other folders beside it. */
interface Layer {
  readonly imports: readonly string[];
  /** Folders of which only types may be imported. */
  readonly types?: readonly string[];
}

/**
 * The layers of each service, of packages and of the benchmarks, innermost first: a folder imports
 * only from folders above its line, so there is no circle. Files beside the folders put them
 * together: they may import from all, and no folder from them, but for `filesInnermost`. The linter
 * (`oxlint.config.ts`) checks the imports, and `layers.test.ts` checks the order of the lines.
 */
export const layers: Readonly<Record<string, Readonly<Record<string, Layer>>>> = {
  "services/documents/src": {
    domain: { imports: [] },
    checking: { imports: ["domain"] },
    store: { imports: ["domain"] },
    rpc: { imports: ["domain"], types: ["store"] },
  },
  "services/phrases/src": {
    domain: { imports: [] },
    store: { imports: ["domain"] },
    rpc: { imports: ["domain"], types: ["store"] },
  },
  "services/signing/src": {
    domain: { imports: [] },
    custody: { imports: ["domain"] },
    store: { imports: ["domain"] },
    rpc: { imports: ["domain"], types: ["store"] },
  },
  "services/delivery/src": {
    domain: { imports: [] },
    net: { imports: ["domain"] },
    store: { imports: ["domain"] },
    snapshots: { imports: ["domain"] },
    replicas: { imports: ["domain"], types: ["store"] },
    announce: { imports: ["domain"], types: ["store"] },
    trust: { imports: ["domain"], types: ["store"] },
    lanes: { imports: ["domain", "net", "snapshots", "replicas", "announce"], types: ["store"] },
    ingest: { imports: ["domain", "snapshots", "replicas", "store"], types: ["lanes"] },
    replay: { imports: ["domain", "net", "snapshots", "lanes"], types: ["store"] },
    revocation: { imports: ["domain", "snapshots", "ingest"], types: ["store", "lanes", "trust"] },
    rpc: { imports: ["domain", "replay"], types: ["store", "lanes", "net"] },
  },
  "services/gateway/src": {
    errors: { imports: [] },
    rates: { imports: ["errors"] },
    pools: { imports: ["errors"] },
    access: { imports: ["errors"] },
    upstream: { imports: ["errors", "pools", "access"] },
    store: { imports: ["access"], types: ["rates", "upstream"] },
    http: { imports: ["errors", "rates", "pools", "access"] },
    endpoints: { imports: ["errors", "http"], types: ["rates", "upstream"] },
    rpc: { imports: ["access"], types: ["store"] },
    "api-docs": { imports: ["errors", "rates", "pools", "access", "http", "endpoints"] },
  },
  "packages/kit/src": {
    fair: { imports: [] },
    kek: { imports: [] },
    mongo: { imports: [] },
    queues: { imports: ["fair"] },
    rows: { imports: [] },
    telemetry: { imports: [] },
    testing: { imports: [] },
    tls: { imports: [], types: ["telemetry"] },
    tuning: { imports: [] },
    rpc: { imports: ["mongo", "telemetry", "tls", "tuning"] },
    service: { imports: ["mongo", "telemetry", "tls", "tuning", "rpc"] },
    nats: { imports: ["telemetry", "tls", "service"] },
  },
  "packages/kit/src/rpc": {
    wire: { imports: [] },
    errors: { imports: [] },
    context: { imports: [] },
    replicas: { imports: [] },
    client: { imports: ["wire", "errors", "context", "replicas"] },
    doors: { imports: ["wire", "errors", "context", "replicas"] },
    testing: { imports: ["client", "doors"] },
  },
  "packages/kit/src/rpc/doors": {
    shared: { imports: [] },
    mesh: { imports: ["shared"] },
    teams: { imports: ["shared"] },
  },
  "packages/console/src": {
    domain: { imports: [] },
    markup: { imports: [] },
    rpc: { imports: ["domain"] },
    http: { imports: ["domain", "rpc"], types: ["markup"] },
    "sign-in": { imports: ["domain", "rpc"], types: ["http"] },
    store: { imports: ["domain"] },
    sessions: { imports: ["domain", "rpc"], types: ["http", "store"] },
    pages: { imports: ["domain", "markup", "rpc", "http", "sign-in", "sessions"], types: ["store"] },
  },
  "packages/cli/src": {
    input: { imports: [] },
    listen: { imports: [] },
    terminal: { imports: [] },
    "trust-root": { imports: [] },
    settings: { imports: ["trust-root"] },
    options: { imports: [], types: ["settings"] },
    "public-api": { imports: ["terminal", "settings"] },
    feeds: { imports: ["terminal", "public-api"] },
    rpc: { imports: ["terminal", "settings"] },
    phrases: { imports: ["input", "public-api", "rpc"] },
    shown: { imports: ["rpc"] },
    doctor: { imports: ["public-api", "rpc", "shown"], types: ["settings"] },
    documents: { imports: ["terminal", "settings", "rpc", "shown"] },
    commands: {
      imports: [
        "input",
        "listen",
        "terminal",
        "trust-root",
        "settings",
        "options",
        "public-api",
        "feeds",
        "rpc",
        "phrases",
        "shown",
        "doctor",
        "documents",
      ],
    },
  },
  "packages/devstack/src": {
    backing: { imports: [] },
    browser: { imports: [] },
    certificates: { imports: [] },
    stack: { imports: ["backing", "certificates"] },
    testing: { imports: ["backing", "stack"] },
  },
  bench: {
    measure: { imports: [] },
    load: { imports: ["measure"] },
    baselines: { imports: ["load"] },
    stage: { imports: ["load"] },
  },
};

/**
 * Where the files beside the folders are the innermost layer: every folder may import from them.
 */
const filesInnermost = new Set([
  "packages/kit/src",
  "packages/kit/src/rpc",
  "packages/cli/src",
  "packages/devstack/src",
]);

/** How many folders deep a file may stand below a root of `layers`. */
export const depths = [1, 2, 3];

interface Forbidden {
  readonly regex: string;
  readonly message: string;
  readonly allowTypeImports?: true;
}

/**
 * What `eslint/no-restricted-imports` forbids to the files of a folder that stand `depth` folders
 * deep below the root. When the root is itself a folder with a layer, that layer holds for them,
 * too.
 */
export function forbiddenTo(root: string, folder: string, depth: number): Forbidden[] {
  const { [folder]: layer, ...others } = layers[root] ?? {};
  if (!layer) return [];
  const { imports, types = [] } = layer;
  const foreign = Object.keys(others).filter((other) => !imports.includes(other));
  const up = `^(\\.\\./){${depth}}`;
  const named = (folders: readonly string[]) => (folders.length > 0 ? [`${up}(${folders.join("|")})/`] : []);
  const beside = filesInnermost.has(root) ? [] : [`${up}[^/]+$`];
  const message = `${root}/${folder} does not import from there: scripts/layers.ts has the layers.`;
  const all = [...named(foreign.filter((other) => !types.includes(other))), ...beside];
  return [
    ...all.map((regex) => ({ regex, message })),
    ...named(types).map((regex) => ({ regex, message, allowTypeImports: true as const })),
    ...forbiddenTo(dirname(root), basename(root), depth + 1),
  ];
}
