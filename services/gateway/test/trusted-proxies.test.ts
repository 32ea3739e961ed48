import { expect, test } from "vitest";
import { spawnGateway } from "./support/spawn-gateway.ts";

test("a gateway that is told to believe every address does not start: exit code 78, and the setting is named", async () => {
  await expect(spawnGateway({ TRUSTED_PROXIES: "0.0.0.0/0" })).rejects.toThrow(
    /^exit code 78\n[^]*TRUSTED_PROXIES covers every address/,
  );
});
