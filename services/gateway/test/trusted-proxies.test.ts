import { expect, test } from "vitest";
import { spawnGateway } from "./support/spawn-gateway.ts";

test("a gateway that is told to trust every address exits with 78 and names the setting", async () => {
  await expect(spawnGateway({ TRUSTED_PROXIES: "0.0.0.0/0" })).rejects.toThrow(
    /^exit code 78\n[^]*TRUSTED_PROXIES covers every address/,
  );
});
