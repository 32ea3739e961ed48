import { portOf } from "@vidimus/kit/service/port";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "./support/run.ts";

let cwd: string;
const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "text/csv" });
  response.write("language,phrase\r\nsv,a\r\n", () => response.destroy());
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

test.each([[["--output", "x.csv"]], [[]]])(
  "an export that breaks off fails and leaves no file (%s)",
  async (output) => {
    const gateway = `http://127.0.0.1:${portOf(server.address())}`;
    const { code, stderr } = await run(["phrases", "export", ...output, "--gateway", gateway, "--key", "vk_test"], {
      cwd,
    });
    expect(code).toBe(1);
    expect(stderr).toContain("broke off");
    expect(await readdir(cwd)).toEqual([]);
  },
);
