import { expect, test } from "vitest";
import { DevstackError } from "../errors.ts";
import { consolePortSettings, readConsolePorts } from "./console-plan.ts";
import { portSettings, readPort, readPorts, serviceEnv } from "./service-plan.ts";

test.each(["0", "00000", "65536", "http"])(
  "the port %j is refused for each service and the console, with the variable's name",
  (port) => {
    const read = (env: NodeJS.ProcessEnv) => [readPorts(env), readConsolePorts(env)];
    for (const { variable } of [...portSettings, ...consolePortSettings]) {
      const refusal = `${variable} must be a port from 1 to 65535, not "${port}"`;
      expect(() => read({ [variable]: port })).toThrow(new DevstackError(refusal));
    }
  },
);

test("a port whose default is 0, which means any free port, may be set to 0", () => {
  expect(readPort({ MONGODB_PORT: "0" }, "MONGODB_PORT", 0)).toBe(0);
});

test("a service gets the paths of its own secrets alone, though the stack's environment has others", () => {
  const shared = {
    mongoUrl: "",
    databaseUsers: undefined,
    natsUrl: "",
    isOwnBroker: true,
    kekFiles: { signing: "/kek", delivery: "/delivery-kek" },
    attestationKeyFile: "/attestation",
    databasePrefix: "vidimus",
    ports: readPorts({}),
    identities: undefined,
  };
  const env = {
    SIGNING_KEK_FILE: "/another",
    SIGNING_OLD_KEK_FILE: "/old-kek",
    ATTESTATION_KEY_FILE: "/another",
    ATTESTATION_OLD_KEY_FILE: "/old-attestation",
    DELIVERY_KEK_FILE: "/another",
    DELIVERY_OTHER_KEK_FILE: "/other-kek",
    OTHER: "1",
  };
  const paths = (service: Parameters<typeof serviceEnv>[0]) => {
    const { OTHER, ...given } = serviceEnv(service, shared, env);
    expect(OTHER).toBe("1");
    return Object.fromEntries(Object.entries(given).filter(([name]) => /KEK|ATTESTATION/.test(name)));
  };
  expect(paths("signing")).toEqual({
    SIGNING_KEK_FILE: "/kek",
    SIGNING_OLD_KEK_FILE: "/old-kek",
    ATTESTATION_KEY_FILE: "/attestation",
    ATTESTATION_OLD_KEY_FILE: "/old-attestation",
  });
  expect(paths("documents")).toEqual({ ATTESTATION_KEY_FILE: "/attestation" });
  expect(paths("delivery")).toEqual({ DELIVERY_KEK_FILE: "/delivery-kek", DELIVERY_OTHER_KEK_FILE: "/other-kek" });
  for (const service of ["gateway", "phrases"] as const) expect(paths(service)).toEqual({});
});
