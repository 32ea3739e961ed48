import type { Delivery } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { Html } from "../../markup/html.ts";
import { state, type Tone } from "../parts/state.ts";

/** `value` as in the API, `label` for people. */
export const deliveryStates = [
  { value: "pending", tone: "wait", label: "waiting" },
  { value: "held", tone: "off", label: "held" },
  { value: "delivered", tone: "ok", label: "delivered" },
  { value: "superseded", tone: "off", label: "superseded" },
  { value: "exhausted", tone: "bad", label: "given up" },
] as const satisfies readonly { value: string; tone: Tone; label: string }[];

const words: ReadonlyMap<string, string> = new Map([
  ...deliveryStates.map(({ value, label }) => [value, label] as const),
  ["missing", "never to be delivered"],
]);

/** Label of a state, or of `missing`, by which a replay selects snapshots without a delivery. */
export function stateInWords(state: string): string {
  return words.get(state) ?? state;
}

export const stateMeanings: Readonly<Record<string, string>> = {
  pending: "It is sent by itself.",
  held: "The endpoint is paused, or its secret is lost. It is sent when somebody starts or repairs the endpoint.",
  delivered: "The receiver took it.",
  superseded: "A newer one of the same document was delivered, or the endpoint does not want it.",
  exhausted: "It is not tried again by itself.",
};

export function deliveryState({ state: named, attemptCount }: Delivery): Html {
  const known = deliveryStates.find(({ value }) => value === named);
  if (named === "pending" && attemptCount > 0) return state("bad", `failing, ${attempts(attemptCount)}`);
  return state(known?.tone ?? "off", known?.label ?? named);
}

export function attempts(count: number): string {
  return count === 1 ? "1 attempt" : `${count} attempts`;
}
