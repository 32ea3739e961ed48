import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { settingNames } from "./setting-rules.ts";
import { resolveSettings, type SettingSources } from "./settings.ts";

let root: string;
let project: string;
const dev = {
  gateway: "http://127.0.0.1:8080",
  grpc: { access: "127.0.0.1:7050", documents: "127.0.0.1:7051", delivery: "127.0.0.1:7054" },
  mesh: { documents: "127.0.0.1:7151", signing: "127.0.0.1:7153" },
  tenants: [
    { id: "demo", apiKey: "vk_demo" },
    { id: "rival", apiKey: "vk_rival" },
  ],
};
const profiles = {
  staging: { gateway: "https://api.example.org/", tenant: "staging", key: "vk_staging" },
  odd: { url: "x" },
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "vidimus-settings-"));
  project = join(root, "project");
  await mkdir(join(project, "deep", "down"), { recursive: true });
  await mkdir(join(project, ".vidimus"));
  await writeFile(join(project, ".vidimus", "dev.json"), JSON.stringify(dev), { mode: 0o600 });
  await writeFile(join(project, "package-lock.json"), "{}");
  await mkdir(join(root, ".config", "vidimus"), { recursive: true });
  await writeFile(join(root, ".config", "vidimus", "profiles.json"), JSON.stringify(profiles), { mode: 0o600 });
});
afterAll(() => rm(root, { recursive: true, force: true }));

function resolve(sources: Partial<SettingSources>) {
  return resolveSettings({ flags: {}, env: {}, cwd: join(project, "deep", "down"), home: root, ...sources });
}

test("below a dev stack's folder, commands get its addresses, tenant demo, demo's key and role admin", async () => {
  const settings = await resolve({});
  const names = ["gateway", "access", "documents", "delivery", "mesh", "tenant", "key", "role"] as const;
  expect(names.map((name) => settings.get(name))).toEqual([
    "http://127.0.0.1:8080",
    "127.0.0.1:7050",
    "127.0.0.1:7051",
    "127.0.0.1:7054",
    "documents=127.0.0.1:7151,signing=127.0.0.1:7153",
    "demo",
    "vk_demo",
    "admin",
  ]);
});

test("the API key is the dev stack's key of the tenant that a flag or a variable names", async () => {
  expect((await resolve({ flags: { tenant: "rival" } })).get("key")).toBe("vk_rival");
  expect((await resolve({ env: { VIDIMUS_TENANT: "rival" } })).get("key")).toBe("vk_rival");
});

test("a flag goes before the environment, and the environment before a profile", async () => {
  const env = { VIDIMUS_API_KEY: "vk_env" };
  const flags = { profile: "staging" };
  expect((await resolve({ env, flags: { ...flags, key: "vk_flag" } })).get("key")).toBe("vk_flag");
  expect((await resolve({ env, flags })).get("key")).toBe("vk_env");
  expect((await resolve({ flags })).get("key")).toBe("vk_staging");
});

test("an empty variable counts as absent", async () => {
  const settings = await resolve({ env: { VIDIMUS_GATEWAY: "" }, flags: { profile: "staging" } });
  expect(settings.get("gateway")).toBe("https://api.example.org");
});

test("a variable may name the profile", async () => {
  expect((await resolve({ env: { VIDIMUS_PROFILE: "staging" } })).get("key")).toBe("vk_staging");
});

test("when a profile is named, no setting comes from the dev stack of the folder", async () => {
  const settings = await resolve({ flags: { profile: "staging" } });
  const found = settingNames.map((name) => [name, settings.find(name)]).filter(([, value]) => value !== undefined);
  expect(found).toEqual([
    ["gateway", "https://api.example.org"],
    ["tenant", "staging"],
    ["role", "admin"],
    ["key", "vk_staging"],
  ]);
});

test("the error about a setting that the profile lacks names the profile and how to give the setting", async () => {
  const settings = await resolve({ flags: { profile: "staging" } });
  expect(() => settings.get("documents")).toThrow(
    'profile "staging" has none: pass --documents or set VIDIMUS_DOCUMENTS',
  );
});

test("without a dev stack or profile, the error about a missing setting says how to give it", async () => {
  const settings = await resolve({ cwd: root });
  expect(() => settings.get("gateway")).toThrow(
    "no dev stack found: run `npm start`, or pass --gateway or set VIDIMUS_GATEWAY",
  );
});

test("without a dev stack no tenant is assumed", async () => {
  const settings = await resolve({ cwd: root });
  expect(() => settings.get("tenant")).toThrow("--tenant");
});

test("the error about a tenant for which the dev stack has no key names the tenant", async () => {
  const settings = await resolve({ flags: { tenant: "third" } });
  expect(() => settings.get("key")).toThrow('no key of tenant "third"');
});

test.each([
  ["gateway", "ftp://x"],
  ["gateway", "http://user@x"],
  ["documents", "localhost"],
  ["identity-path", "/ns/vidimus/sa"],
  ["tenant", "Demo"],
] as const)("--%s %s is refused, and the message names the flag", async (name, value) => {
  const settings = await resolve({ flags: { [name]: value } });
  expect(() => settings.get(name)).toThrow(`--${name}`);
});

test("a key of the wrong form is refused without showing it", async () => {
  const settings = await resolve({ flags: { key: "vk secret" } });
  expect(() => settings.get("key")).toThrow(/^--key \(VIDIMUS_API_KEY\) must be without spaces$/);
});

test.each([
  ["none", 'no profile "none"'],
  ["toString", 'no profile "toString"'],
  ["odd", '"url" is no setting'],
])("--profile %s is refused, and the message says why", async (profile, words) => {
  await expect(resolve({ flags: { profile } })).rejects.toThrow(words);
});

test("profiles that others may read are refused", async () => {
  const file = join(root, ".config", "vidimus", "profiles.json");
  await chmod(file, 0o640);
  await expect(resolve({ flags: { profile: "staging" } })).rejects.toThrow("has mode 0640: chmod 600 it");
  await chmod(file, 0o600);
  await resolve({ flags: { profile: "staging" } });
});

test("profiles are looked for in the folder that XDG_CONFIG_HOME names", async () => {
  const env = { XDG_CONFIG_HOME: join(root, "elsewhere") };
  await expect(resolve({ flags: { profile: "staging" }, env })).rejects.toThrow(join(root, "elsewhere", "vidimus"));
});

test.each([
  ["{", "is not JSON"],
  ["[]", "does not hold a JSON object"],
  ['{"gateway":1}', "is not what a dev stack writes"],
])("a dev.json that holds %s is refused, and the message says why", async (content, words) => {
  const cwd = await mkdtemp(join(root, "broken-"));
  await mkdir(join(cwd, ".vidimus"));
  await writeFile(join(cwd, ".vidimus", "dev.json"), content, { mode: 0o600 });
  await expect(resolve({ cwd })).rejects.toThrow(words);
});

describe("a planted .vidimus/dev.json", () => {
  const planted = { gateway: "http://192.0.2.1", grpc: {}, tenants: [] };
  const env = { VIDIMUS_API_KEY: "vk_env" };

  async function plant(folder: string, mode = 0o600): Promise<string> {
    const file = join(folder, ".vidimus", "dev.json");
    await mkdir(join(folder, ".vidimus"), { recursive: true });
    await writeFile(file, JSON.stringify(planted));
    await chmod(file, mode);
    return file;
  }

  test.each([
    ["the root of a checkout with package-lock.json", "package-lock.json"],
    ["the root of a checkout with .git", ".git"],
    ["a folder outside of any checkout", undefined],
  ])("above %s is not used", async (_, marker) => {
    const above = await mkdtemp(join(root, "above-"));
    await plant(above);
    const cwd = join(above, "folder");
    await mkdir(join(cwd, "deep"), { recursive: true });
    if (marker) await writeFile(join(cwd, marker), "");
    for (const folder of [cwd, join(cwd, "deep")]) {
      expect((await resolve({ cwd: folder, env })).find("gateway")).toBe(undefined);
    }
  });

  test("that others may read or write is refused", async () => {
    const cwd = await mkdtemp(join(root, "modes-"));
    for (const mode of [0o644, 0o620, 0o602]) {
      await plant(cwd, mode);
      await expect(resolve({ cwd, env })).rejects.toThrow("chmod 600 it");
    }
  });

  test("in a folder that others may write to is refused", async () => {
    const cwd = await mkdtemp(join(root, "open-"));
    await plant(cwd);
    await chmod(join(cwd, ".vidimus"), 0o777);
    await expect(resolve({ cwd, env })).rejects.toThrow("others may write to");
    await chmod(join(cwd, ".vidimus"), 0o755);
    expect((await resolve({ cwd, env })).find("gateway")).toBe("http://192.0.2.1");
  });

  test("of another user is refused with the path of the file, unless a profile is named", async () => {
    const cwd = await mkdtemp(join(root, "foreign-"));
    const file = await plant(cwd);
    if (process.getuid?.() === 0) await chown(file, 65_534, 65_534);
    // Only root can give a file away. Other users link to a file of root.
    else await rm(file).then(() => symlink("/etc/passwd", file));
    await expect(resolve({ cwd, env })).rejects.toThrow(`${file} belongs to another user`);
    expect((await resolve({ cwd, env, flags: { profile: "staging" } })).get("key")).toBe("vk_env");
  });

  // Only root can give a folder away.
  test.runIf(process.getuid?.() === 0)(
    "in a folder of another user is refused, with the path of the folder",
    async () => {
      const cwd = await mkdtemp(join(root, "guest-"));
      const folder = dirname(await plant(cwd));
      await chown(folder, 65_534, 65_534);
      await expect(resolve({ cwd, env })).rejects.toThrow(`${folder} belongs to another user`);
    },
  );
});

test("a flag or a variable may name a file with the secret instead of stating the secret", async () => {
  const file = join(root, "key");
  await writeFile(file, "vk_of_file\n", { mode: 0o600 });
  expect((await resolve({ flags: { "key-file": file } })).get("key")).toBe("vk_of_file");
  expect((await resolve({ env: { VIDIMUS_API_KEY_FILE: file } })).get("key")).toBe("vk_of_file");
  await writeFile(file, "mongodb://db:27017/?replicaSet=rs0\n");
  expect((await resolve({ env: { VIDIMUS_MONGODB_FILE: file } })).get("mongodb")).toBe(
    "mongodb://db:27017/?replicaSet=rs0",
  );
});

test("a key stated by a flag or a variable goes before a key file named in the same way", async () => {
  const file = join(root, "other-key");
  await writeFile(file, "vk_of_file\n", { mode: 0o600 });
  expect((await resolve({ env: { VIDIMUS_API_KEY: "vk_env", VIDIMUS_API_KEY_FILE: file } })).get("key")).toBe("vk_env");
  expect((await resolve({ flags: { key: "vk_flag", "key-file": file } })).get("key")).toBe("vk_flag");
});

test("a key file that a flag names goes before a key in the environment", async () => {
  const file = join(root, "flag-key");
  await writeFile(file, "vk_of_file\n", { mode: 0o600 });
  expect((await resolve({ flags: { "key-file": file }, env: { VIDIMUS_API_KEY: "vk_env" } })).get("key")).toBe(
    "vk_of_file",
  );
});

test("a secret's file that cannot be read is an error that names the flag or variable and the path", async () => {
  await expect(resolve({ flags: { "key-file": "/nowhere" } })).rejects.toThrow(
    "--key-file: /nowhere cannot be read (ENOENT)",
  );
  const env = { VIDIMUS_NATS_FILE: "/nowhere" };
  await expect(resolve({ env })).rejects.toThrow("VIDIMUS_NATS_FILE: /nowhere cannot be read (ENOENT)");
});

test("a variable that names a file is ignored for a setting that is no secret", async () => {
  await expect(resolve({ env: { VIDIMUS_GATEWAY_FILE: "/nowhere" } })).resolves.toBeDefined();
});
