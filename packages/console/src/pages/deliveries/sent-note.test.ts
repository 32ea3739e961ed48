import { create } from "@bufbuild/protobuf";
import { DeliverySchema } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { expect, test } from "vitest";
import { sentNote } from "./sent-note.ts";

test.each([
  ["pending", "The next attempt is due at once."],
  ["delivered", "the receiver took it"],
])("after its next attempt was made due, a delivery that is %s says so: %s", (state, words) => {
  const delivery = create(DeliverySchema, { state });
  expect(String(sentNote(delivery, new URLSearchParams("done=due")))).toContain(words);
});

test.each(["exhausted", "superseded"])("a delivery that is %s meanwhile says nothing of a next attempt", (state) => {
  expect(sentNote(create(DeliverySchema, { state }), new URLSearchParams("done=due"))).toBeUndefined();
});
