import type { CallOptions } from "@connectrpc/connect";
import { DomainError } from "@vidimus/kit/errors";
import { asDomainError, fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { TenantCall } from "../../http/route.ts";
import type { MadeByForm, SentFormStore } from "../../store/sent-form-store.ts";
import { hidden } from "./form.ts";
import type { Html } from "../../markup/html.ts";

const fieldName = "once";
const tokenPattern = /^[\w-]{22}$/;
/**
 * Longest wait for what the first click makes: the longest call of a form with an `onceField`, an
 * attempt at a receiver, has a deadline of 20 seconds.
 */
const waitMs = 20_000;
const everyMs = 100;

export type SentForms = Pick<SentFormStore, "take" | "find" | "end" | "release">;

/** A hidden field that names this form, so that it takes effect once; see `takeForm`. */
export function onceField(): Html {
  return hidden(fieldName, randomBytes(16).toString("base64url"));
}

/** The `onceField` of a form that was sent, to send the form again. */
export function onceFields(form: URLSearchParams): Html[] {
  return form.getAll(fieldName).map((token) => hidden(fieldName, token));
}

/** A form that takes effect now. */
interface TakenForm {
  /**
   * Options of the calls that the form asks for. These calls go on when the browser leaves: at a
   * double click a browser drops the answer to the first click, and the answer to the second says
   * what the first has made.
   */
  readonly rpc: CallOptions;
  /**
   * Awaits the answer to what the form asked for, and stores what the form has made. After a
   * refusal the form may be sent again. After any other failure it may not, because it may have
   * taken effect.
   */
  settle<T>(answer: Promise<T>, madeOf: (answered: T) => MadeByForm): Promise<T>;
}

interface FormSentBefore {
  /** What the form has made; undefined where that is not known. */
  readonly before: MadeByForm | undefined;
}

/**
 * Takes a form with an `onceField`, so that it takes effect at most once: a double click, a reload
 * and the back button send the same form again. A form that is sent again while the first one is at
 * work waits for what the first one makes.
 */
export async function takeForm(
  forms: SentForms,
  { form, person: { memberId }, now, rpc }: TenantCall,
): Promise<TakenForm | FormSentBefore> {
  const token = form.get(fieldName) ?? "";
  if (!tokenPattern.test(token)) throw new DomainError("invalid", "the form is not whole: open it again");
  while (!(await forms.take(memberId, token, now))) {
    const sent = await forms.find(memberId, token);
    // A form stays unended when the process that took it has died. Its calls end within `waitMs`,
    // so a longer wait would bring no result.
    if (sent && (sent.isEnded || Date.now() > sent.takenAt.getTime() + waitMs)) return { before: sent.made };
    if (sent) await pause(everyMs);
  }
  const { signal: _signal, ...goingOn } = rpc;
  return { rpc: goingOn, settle: (answer, madeOf) => settle({ forms, memberId, token }, answer, madeOf) };
}

interface Taken {
  readonly forms: SentForms;
  readonly memberId: string;
  readonly token: string;
}

async function settle<T>({ forms, memberId, token }: Taken, answer: Promise<T>, madeOf: (answered: T) => MadeByForm) {
  try {
    const answered = await answer;
    // A failure of this write, or of the one below, affects only the same form sent again: its
    // answer cannot name what was made, or calls the form a repetition although it was refused.
    await forms.end(memberId, token, madeOf(answered)).catch(() => undefined);
    return answered;
  } catch (error) {
    const refusal = asDomainError(error) ?? fromConnectError(error);
    const isKnown = refusal && refusal.kind !== "unavailable" && refusal.kind !== "deadline_exceeded";
    await (isKnown ? forms.release(memberId, token) : forms.end(memberId, token)).catch(() => undefined);
    throw error;
  }
}
