import { create } from "@bufbuild/protobuf";
import { DeliverySchema } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { expect, test } from "vitest";
import { sentNote } from "./sent-note.ts";

test.each([
  ["pending", "The next attempt is due at once."],
  ["delivered", "the receiver took it"],
])("the note on a delivery that was made due and is now %s says: %s", (state, words) => {
  const delivery = create(DeliverySchema, { state });
  expect(String(sentNote(delivery, new URLSearchParams("done=due")))).toContain(words);
});

test.each(["exhausted", "superseded"])("a delivery that was made due and is now %s has no note", (state) => {
  expect(sentNote(create(DeliverySchema, { state }), new URLSearchParams("done=due"))).toBeUndefined();
});
