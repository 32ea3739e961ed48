import cliProgress from "cli-progress";
import type { TextStream } from "../world.ts";

/** Shows how far a command has come. */
export interface Progress extends Disposable {
  /** Moves on by a number of bytes and shows these words beside. */
  advance(bytes: number, words: string): void;
}

/** A progress bar over `totalBytes` on a terminal; silent where the stream is none. */
export function openProgress(stream: TextStream, totalBytes: number): Progress {
  if (!stream.isTTY) return { advance: () => undefined, [Symbol.dispose]: () => undefined };
  const bar = new cliProgress.SingleBar({
    stream,
    format: "{bar} {percentage}%  {words}",
    barCompleteChar: "█",
    barIncompleteChar: "░",
    // Fits a terminal of 80 columns, so that neither wrapping nor the cursor need to be off when Ctrl-C comes.
    barsize: 20,
    linewrap: true,
    hideCursor: false,
    gracefulExit: false,
  });
  bar.start(totalBytes, 0, { words: "" });
  return {
    advance: (bytes, words) => bar.increment(bytes, { words }),
    [Symbol.dispose]: () => bar.stop(),
  };
}
