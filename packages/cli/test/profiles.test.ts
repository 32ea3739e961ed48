import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "./support/run.ts";

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "vidimus-profiles-"))));
afterEach(() => rm(dir, { recursive: true }));

const profile = (...argv: string[]) => run(["profile", ...argv], { env: { XDG_CONFIG_HOME: dir }, cwd: dir });
const staging = ["add", "staging", "--gateway", "https://api.example.org", "--tenant", "times"];

async function addWithKey() {
  await writeFile(join(dir, "key"), "vk_of_file\n");
  return profile(...staging, "--key-file", join(dir, "key"));
}

test("profiles.json and its folder are open only to their owner", async () => {
  await addWithKey();
  expect((await stat(join(dir, "vidimus", "profiles.json"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(dir, "vidimus"))).mode & 0o777).toBe(0o700);
});

test("profile add stores gateway, tenant and the key of --key-file", async () => {
  expect(await addWithKey()).toMatchObject({ code: 0, stdout: "profile staging holds gateway, tenant, key\n" });
  const { stdout } = await profile("list", "--json");
  expect(JSON.parse(stdout)).toEqual([
    {
      name: "staging",
      chosen: false,
      gateway: "https://api.example.org",
      tenant: "times",
      settings: ["gateway", "tenant", "key"],
    },
  ]);
  expect(await readFile(join(dir, "vidimus", "profiles.json"), "utf8")).toContain('"vk_of_file"');
});

test("a profile is listed without its key", async () => {
  await addWithKey();
  for (const form of [[], ["--json"]]) {
    const { stdout } = await profile("list", ...form);
    expect(stdout).toContain("staging");
    expect(stdout).not.toContain("vk_of_file");
  }
});

test("an existing profile is replaced only with --replace", async () => {
  await profile(...staging);
  const other = ["add", "staging", "--gateway", "https://other.example.org"];
  const listed = async () => JSON.parse((await profile("list", "--json")).stdout) as unknown;
  expect(await profile(...other)).toMatchObject({
    code: 1,
    stderr: 'error: there is a profile "staging": add --replace, or choose another name\n',
  });
  expect(await listed()).toMatchObject([{ gateway: "https://api.example.org", settings: ["gateway", "tenant"] }]);
  expect(await profile(...other, "--replace")).toMatchObject({ code: 0 });
  expect(await listed()).toMatchObject([{ gateway: "https://other.example.org", settings: ["gateway"] }]);
});

test.each([
  ["add without settings", ["add", "empty"], "say what the profile holds by flags"],
  [
    "add with a gateway that is no HTTP URL",
    ["add", "odd", "--gateway", "ftp://x"],
    "--gateway (VIDIMUS_GATEWAY) must be",
  ],
  ["use of an absent profile", ["use", "absent"], 'there is no profile "absent"'],
])("profile %s fails, and the message says why", async (_, argv, words) => {
  expect(await profile(...argv)).toMatchObject({ code: 1, stderr: expect.stringContaining(words) });
});

test("without a dev stack, the chosen profile is used unless --profile names another", async () => {
  await profile(...staging);
  await profile("add", "live", "--gateway", "https://live.example.org");
  const where = { env: { XDG_CONFIG_HOME: dir }, cwd: dir };
  const missing = () => run(["phrases", "list"], where);
  expect((await missing()).stderr).toContain("no dev stack found");
  expect(await profile("use", "live")).toMatchObject({ code: 0 });
  expect((await missing()).stderr).toContain('profile "live" has none');
  const named = await run(["phrases", "list", "--profile", "staging"], where);
  expect(named.stderr).toContain('profile "staging" has none');
  expect((await profile("list")).stdout).toContain("live *");
});

test("the file that names the chosen profile is refused when its mode is 0666", async () => {
  await profile(...staging);
  await profile("use", "staging");
  await chmod(join(dir, "vidimus", "profile"), 0o666);
  expect((await run(["phrases", "list"], { env: { XDG_CONFIG_HOME: dir }, cwd: dir })).stderr).toContain(
    "has mode 0666",
  );
});
