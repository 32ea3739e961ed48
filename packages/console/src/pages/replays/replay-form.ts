import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { stateInWords } from "../deliveries/delivery-state.ts";
import type { Fault } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import type { Html } from "../../markup/html.ts";
import { notATime, readUtc } from "../parts/utc-field.ts";

export interface ReplayForm {
  readonly endpoint: string;
  readonly since: string;
  readonly until: string;
  readonly states: readonly string[];
  /** Any of `all` and `latest`. */
  readonly options: readonly string[];
}

export const replayOptions = [
  { value: "latest", label: "Only the newest of each document" },
  { value: "all", label: "Everything", hint: "Without a beginning and without states, for a receiver that lost all." },
];

/** What people read for a value of `states` or `options`. */
export function choiceInWords(value: string): string {
  return replayOptions.find((option) => option.value === value)?.label ?? stateInWords(value);
}

/** Reads the fields of the form, from the query of a URL or from a submitted form. */
export function readReplayForm(sent: URLSearchParams): ReplayForm {
  return {
    endpoint: sent.get("endpoint") ?? "",
    since: sent.get("since") ?? "",
    until: sent.get("until") ?? "",
    states: sent.getAll("states"),
    options: sent.getAll("options"),
  };
}

export function hiddenReplayForm({ endpoint, since, until, states, options }: ReplayForm): Html[] {
  return [
    hidden("endpoint", endpoint),
    hidden("since", since),
    hidden("until", until),
    ...states.map((state) => hidden("states", state)),
    ...options.map((option) => hidden("options", option)),
  ];
}

/**
 * From field name to label: those of the form, and `of`, the number of snapshots that were counted
 * before the start. See `fields` of a route.
 */
export const replayFieldLabels = {
  endpoint: "Endpoint",
  since: "Published from",
  until: "Published before",
  states: "Whose delivery is",
  options: "How much",
  of: "",
};

/** For each JSON pointer that delivery may refuse in a request, the field of the form. */
export const replayFields = {
  "/endpointId": "endpoint",
  "/since": "since",
  "/until": "until",
  "/states": "states",
  "/all": "options",
};

interface ReplayRequest {
  readonly endpointId: string;
  readonly states: string[];
  readonly all: boolean;
  readonly latestOnly: boolean;
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}

/** The request to delivery, to count or to start a replay, or the faults of the form. */
export function replayRequest(form: ReplayForm): { readonly value: ReplayRequest } | { readonly faults: Fault[] } {
  const [since, until] = [readUtc(form.since), readUtc(form.until)];
  if (form.endpoint === "") return fault("endpoint", "Choose an endpoint.");
  if (since === "malformed") return { faults: [notATime("since")] };
  if (until === "malformed") return { faults: [notATime("until")] };
  const all = form.options.includes("all");
  const isNarrowed = since !== undefined || form.states.length > 0;
  if (!all && !isNarrowed) return fault("options", "Say from when, or in which states, or choose everything.");
  if (all && isNarrowed)
    return fault("options", "Everything is what no beginning and no states narrow: leave one out.");
  return {
    value: {
      endpointId: form.endpoint,
      states: [...form.states],
      all,
      latestOnly: form.options.includes("latest"),
      ...(since && { since }),
      ...(until && { until }),
    },
  };
}

function fault(field: string, error: string) {
  return { faults: [{ field, error }] };
}
