import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Passes on the messages of a handler's stream. Ends the handler when the call is aborted, and when
 * the caller has not taken a message for `stalledMs`: the handler would otherwise stay at its
 * `yield`, with its cursor open, for as long as the caller does not read.
 */
export async function* boundedStream<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal,
  stalledMs: number,
): AsyncGenerator<T> {
  const handler = messages[Symbol.asyncIterator]();
  const caller = { isWaitedFor: false, hasStalled: false };
  const release = () => {
    clearTimeout(timer);
    void handler.return?.().catch(() => undefined);
  };
  const onTimer = () => {
    if (!caller.isWaitedFor) return;
    caller.hasStalled = true;
    release();
  };
  // Restarted at each message, which costs less than a timer for each.
  const timer = setTimeout(onTimer, stalledMs).unref();
  signal.addEventListener("abort", release, { once: true });
  try {
    for await (const message of { [Symbol.asyncIterator]: () => handler }) {
      caller.isWaitedFor = true;
      timer.refresh();
      yield message;
      if (caller.hasStalled) throw new ConnectError("the caller had stopped reading", Code.DeadlineExceeded);
      caller.isWaitedFor = false;
    }
  } finally {
    clearTimeout(timer);
  }
}
