import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { type Replicas, silentMs } from "./replicas.ts";

/** Most servers that one call is sent to. */
const triesMax = 3;

/**
 * Makes an idempotent call, and makes it again at another server while the first one is silent
 * (`Replica`) or when its connection is lost. Resolves with the first answer; a refusal by a server
 * is one. A try that lost is not cancelled: its answer shows that its server is back.
 *
 * @param attempt makes the call at a server that the channel picks
 * @param signal of the caller; attempts end themselves when it aborts
 */
export function withSecondTry<T>(
  replicas: Pick<Replicas, "hasDetour" | "isAny">,
  attempt: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let tries = 0;
    let out = 0;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const mayTry = () => !isOver && !signal?.aborted && tries < triesMax;
    const settle = (end: () => void) => {
      isOver = true;
      clearTimeout(timer);
      end();
    };
    // After a pause of this process all timers are due before the answers that have come are read.
    // An immediate runs after them.
    const watch = () => (timer = setTimeout(() => setImmediate(look), silentMs));
    const look = () => {
      if (!mayTry()) return;
      if (replicas.hasDetour(performance.now())) start();
      watch();
    };
    const start = () => {
      tries += 1;
      out += 1;
      attempt().then(
        (answer) => settle(() => resolve(answer)),
        (error: unknown) => {
          out -= 1;
          if (!isLost(error)) return settle(() => reject(error));
          if (mayTry() && replicas.isAny) start();
          else if (out === 0) settle(() => reject(error));
        },
      );
    };
    start();
    watch();
  });
}

/** Whether no server has answered: an answer of ours has an `ErrorInfo`. */
function isLost(error: unknown): boolean {
  return (
    error instanceof ConnectError && error.code === Code.Unavailable && error.findDetails(ErrorInfoSchema).length === 0
  );
}
