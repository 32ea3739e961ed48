import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@vidimus/contracts/vidimus/errors/v1/errors";
import { type Replicas, silentMs } from "./replicas.ts";

/** Most times that one call is sent, the first one included (ADR 0002). */
const triesMax = 3;

/**
 * Makes an idempotent call, and repeats it while a server of the channel is silent and another one
 * answers (`Replicas.hasDetour`), or when the call's connection is lost. Settles with the first
 * answer; a refusal is an answer, too. Slower attempts are not cancelled: while they wait, the
 * balancer avoids their servers.
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
    // After a pause of this process its timers run before arrived answers are read, and working
    // servers look silent. `setImmediate` calls `look` once the answers are read.
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

/**
 * Whether a call is to be sent again: its connection was lost, or its server was starting or
 * stopping. Every other `Unavailable` of the platform's servers has an `ErrorInfo`.
 */
function isLost(error: unknown): boolean {
  return (
    error instanceof ConnectError && error.code === Code.Unavailable && error.findDetails(ErrorInfoSchema).length === 0
  );
}
