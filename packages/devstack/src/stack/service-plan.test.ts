import { expect, test } from "vitest";
import { readPorts, serviceEnv } from "./service-plan.ts";

test("the path of the KEK reaches signing alone, whatever the environment of the stack says", () => {
  const shared = {
    mongoUrl: "",
    databaseUsers: undefined,
    natsUrl: "",
    isOwnBroker: true,
    kekFile: "/kek",
    databasePrefix: "vidimus",
    ports: readPorts({}),
    identities: undefined,
  };
  const env = { SIGNING_KEK_FILE: "/another", OTHER: "1" };
  expect(serviceEnv("signing", shared, env)).toMatchObject({ SIGNING_KEK_FILE: "/kek", OTHER: "1" });
  for (const service of ["gateway", "documents", "phrases", "delivery"] as const) {
    expect(serviceEnv(service, shared, env)).not.toHaveProperty("SIGNING_KEK_FILE");
    expect(serviceEnv(service, shared, env)).toHaveProperty("OTHER", "1");
  }
});
