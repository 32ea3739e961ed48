import type { TextStream } from "../world.ts";

interface Progress extends Disposable {
  /** Adds an amount of finished work, and shows a text beside the bar. */
  advance(amount: number, text: string): void;
}

/** Opens a progress bar on a terminal, over a total in any unit. Does nothing on other streams. */
export async function openProgress(stream: TextStream, total: number): Promise<Progress> {
  if (!stream.isTTY) return { advance: () => undefined, [Symbol.dispose]: () => undefined };
  const { default: cliProgress } = await import("cli-progress");
  const bar = new cliProgress.SingleBar({
    stream,
    format: "{bar} {percentage}%  {text}",
    barCompleteChar: "█",
    barIncompleteChar: "░",
    // A bar of 20 characters fits with its text into 80 columns, so that no terminal setting needs a
    // change, which Ctrl-C would leave behind.
    barsize: 20,
    linewrap: true,
    hideCursor: false,
    gracefulExit: false,
  });
  bar.start(total, 0, { text: "" });
  return {
    advance: (amount, text) => bar.increment(amount, { text }),
    [Symbol.dispose]: () => bar.stop(),
  };
}
