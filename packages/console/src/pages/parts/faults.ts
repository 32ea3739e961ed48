import type { DomainError, ErrorKind } from "@vidimus/kit/errors";
import { asDomainError, fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { type Html, html } from "../../markup/html.ts";

export interface Fault {
  /** Name of the field; "" for the whole form. */
  readonly field: string;
  readonly error: string;
  /** URL of the page that the fault of a whole form is about. */
  readonly href?: string;
}

/**
 * The faults of a form, to show above it; the fault of a field links to the field.
 *
 * @param labels from field name to label; the fault of such a field begins with the label
 */
export function errorSummary(
  faults: readonly Fault[],
  labels: Readonly<Record<string, string>> = {},
): Html | undefined {
  if (faults.length === 0) return undefined;
  return html`<div class="note badnote" role="alert">
    <h2>This could not be done</h2>
    <ul>
      ${faults.map((fault) => html`<li>${summaryItem(fault, labels)}</li>`)}
    </ul>
  </div>`;
}

function summaryItem({ field, error, href }: Fault, labels: Readonly<Record<string, string>>): Html | string {
  if (field === "") return href === undefined ? error : html`<a href="${href}">${error}</a>`;
  const label = labels[field];
  const said = label ? `${label}: ${error.replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase())}` : error;
  return html`<a href="#${field}">${said}</a>`;
}

export function errorAt(faults: readonly Fault[], field: string): string | undefined {
  return faults.find((fault) => fault.field === field)?.error;
}

/**
 * Kinds of failures that the sender of a form can correct, or must know. Failures of other kinds
 * get an error page.
 */
const ofForms: ReadonlySet<ErrorKind> = new Set([
  "invalid",
  "already_exists",
  "conflict",
  "failed_precondition",
  "exhausted",
  "too_large",
]);

export type Outcome<T> = { readonly value: T } | { readonly faults: readonly Fault[] };

/**
 * Converts a refusal of a service to faults of a form.
 *
 * @param fields from JSON pointer to the name of a field; a pointer also stands for every pointer
 * below it
 * @param reworded the fault of a refusal that the page says in words of its own
 */
export async function refusable<T>(
  answer: Promise<T>,
  fields: Readonly<Record<string, string>> = {},
  reworded: (refusal: DomainError) => Fault | undefined = () => undefined,
): Promise<Outcome<T>> {
  try {
    return { value: await answer };
  } catch (error) {
    const known = asDomainError(error) ?? fromConnectError(error);
    if (!known || !ofForms.has(known.kind)) throw error;
    const own = reworded(known);
    return { faults: own ? [own] : faultsOf(known, fields) };
  }
}

function faultsOf({ message, violations }: DomainError, fields: Readonly<Record<string, string>>): Fault[] {
  const named = violations.flatMap(({ pointer, message: why }): Fault[] => {
    const field = Object.entries(fields).find(([begin]) => pointer === begin || pointer.startsWith(`${begin}/`))?.[1];
    return field === undefined ? [] : [{ field, error: sentence(why) }];
  });
  return named.length > 0 ? named : [{ field: "", error: sentence(message) }];
}

/**
 * Makes a sentence of a service's message, which is written for programs: `must have 1 to 200
 * characters`.
 */
export function sentence(message: string): string {
  const text = message.replace(/^(?=(?:must|is)\b)/, "It ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
