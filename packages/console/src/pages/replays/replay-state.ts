import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Replay } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { stateInWords } from "../deliveries/delivery-state.ts";
import { type Html, html } from "../../markup/html.ts";
import { figure } from "../../markup/in-words.ts";
import { state, type Tone } from "../parts/state.ts";
import { exactly } from "../parts/times.ts";

/**
 * States that a replay may be narrowed to; `missing`: the snapshot has no delivery. A replay that
 * names none includes all four.
 */
export const replayStates = ["exhausted", "missing", "superseded", "delivered"];

type ReplayChoice = Pick<Partial<Replay>, "since" | "until"> & Pick<Replay, "states" | "latestOnly">;

const looks: Readonly<Record<string, readonly [Tone, string]>> = {
  running: ["wait", "running"],
  done: ["ok", "done"],
  cancelled: ["off", "cancelled"],
};

export function replayState({ state: named, failed }: Replay): Html {
  if (named === "done" && failed > 0n) return state("bad", "done, with failures");
  return state(...(looks[named] ?? (["off", named] as const)));
}

/** Which snapshots a replay sends, in words. */
export function choiceOf({ since, until, states, latestOnly }: ReplayChoice): Html {
  const isAll = states.length === 0 || replayStates.every((each) => states.includes(each));
  const from = since ? html` from ${exactly(timestampDate(since))}` : !isAll && " from the first one";
  const to = until && html` ${since ? "to" : "up to"} ${exactly(timestampDate(until))}`;
  const which = isAll ? "" : `; ${states.map(stateInWords).join(", ")}`;
  return html`${isAll ? "everything published" : "what was published"}${from}${to}${which}${latestOnly && "; only the newest of each document"}`;
}

/** A replay's progress: `12 looked at: 10 delivered, 1 failed, 1 left out`. */
export function progressOf({ seen, delivered, failed, skipped }: Replay): string {
  return `${figure(seen)} looked at: ${figure(delivered)} delivered, ${figure(failed)} failed, ${figure(skipped)} left out`;
}
