import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Replay } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { type Html, html } from "../../markup/html.ts";
import { state, type Tone } from "../parts/state.ts";
import { exactly } from "../parts/times.ts";

const looks: Readonly<Record<string, readonly [Tone, string]>> = {
  running: ["wait", "running"],
  done: ["ok", "done"],
  cancelled: ["off", "cancelled"],
};

/** A replay's state: a dot and a word. */
export function replayState({ state: named, failed }: Replay): Html {
  if (named === "done" && failed > 0n) return state("bad", "done, with failures");
  return state(...(looks[named] ?? (["off", named] as const)));
}

/** Which snapshots a replay sends, in words. */
export function choiceOf({ since, until, states, latestOnly }: Replay): Html {
  const from = since ? html`from ${exactly(timestampDate(since))}` : "from the first one";
  const to = until && html` to ${exactly(timestampDate(until))}`;
  return html`${from}${to}; ${states.join(", ")}${latestOnly && "; only the newest of each document"}`;
}

const figures = new Intl.NumberFormat("en");

/** A replay's progress: `12 looked at: 10 delivered, 1 failed, 1 left out`. */
export function progressOf({ seen, delivered, failed, skipped }: Replay): string {
  const figure = (count: bigint) => figures.format(count);
  return `${figure(seen)} looked at: ${figure(delivered)} delivered, ${figure(failed)} failed, ${figure(skipped)} left out`;
}
