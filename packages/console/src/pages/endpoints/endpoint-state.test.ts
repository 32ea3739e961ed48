import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EndpointSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { expect, test } from "vitest";
import { healthFacts } from "./endpoint-facts.ts";

test("an endpoint whose secret is lost shows how many deliveries it holds", () => {
  const now = new Date();
  const held = { heldDeliveries: 3, oldestHeldAt: timestampFromDate(now) };
  const endpoint = create(EndpointSchema, { endpointId: "e1", health: { gate: "unopened", ...held } });
  const [[name, value] = []] = healthFacts(endpoint, now);
  expect([name, String(value)]).toEqual(["Held", expect.stringMatching(/^3 held, the oldest /)]);
});
