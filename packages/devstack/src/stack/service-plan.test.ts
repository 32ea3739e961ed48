import { expect, test } from "vitest";
import { readPorts, serviceEnv } from "./service-plan.ts";

test("the path of a KEK reaches its own service alone, whatever the environment of the stack says", () => {
  const shared = {
    mongoUrl: "",
    databaseUsers: undefined,
    natsUrl: "",
    isOwnBroker: true,
    kekFiles: { signing: "/kek", delivery: "/delivery-kek" },
    databasePrefix: "vidimus",
    ports: readPorts({}),
    identities: undefined,
  };
  const env = { SIGNING_KEK_FILE: "/another", DELIVERY_KEK_FILE: "/another", OTHER: "1" };
  expect(serviceEnv("signing", shared, env)).toMatchObject({ SIGNING_KEK_FILE: "/kek", OTHER: "1" });
  expect(serviceEnv("signing", shared, env)).not.toHaveProperty("DELIVERY_KEK_FILE");
  expect(serviceEnv("delivery", shared, env)).toMatchObject({ DELIVERY_KEK_FILE: "/delivery-kek" });
  expect(serviceEnv("delivery", shared, env)).not.toHaveProperty("SIGNING_KEK_FILE");
  for (const service of ["gateway", "documents", "phrases"] as const) {
    expect(serviceEnv(service, shared, env)).not.toHaveProperty("SIGNING_KEK_FILE");
    expect(serviceEnv(service, shared, env)).not.toHaveProperty("DELIVERY_KEK_FILE");
    expect(serviceEnv(service, shared, env)).toHaveProperty("OTHER", "1");
  }
});
