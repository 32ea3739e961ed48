import { portOf } from "@vidimus/kit/port";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "./support/run.ts";

let cwd: string;
const server = createServer(({ url }, response) => {
  if (url === "/v1/phrases?format=json") {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end('{"ok":true,"data":{"phrases":[{"phrase":"a"}]}}');
  }
  response.writeHead(200, { "content-type": "text/csv" });
  return response.write("language,phrase\r\nsv,a\r\n", () => response.destroy());
});

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "vidimus-cli-"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(async () => {
  server.close();
  await rm(cwd, { recursive: true, force: true });
});

test.each([
  ["to a file", ["--output", "x.csv"]],
  ["to standard output", []],
])("an export %s whose answer breaks off fails and leaves no file", async (_, output) => {
  const gateway = `http://127.0.0.1:${portOf(server.address())}`;
  const { code, stderr } = await run(["phrases", "export", ...output, "--gateway", gateway, "--key", "vk_test"], {
    cwd,
  });
  expect(code).toBe(1);
  expect(stderr).toContain("broke off");
  expect(await readdir(cwd)).toEqual([]);
});

test.each(["x.json", "x.JSON"])("an export to %s is JSON", async (file) => {
  const gateway = `http://127.0.0.1:${portOf(server.address())}`;
  const argv = ["phrases", "export", "--output", file, "--gateway", gateway, "--key", "vk_test"];
  expect(await run(argv, { cwd })).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(await readFile(join(cwd, file), "utf8"))).toEqual({ phrases: [{ phrase: "a" }] });
});
