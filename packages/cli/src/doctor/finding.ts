export type Finding =
  | { readonly check: string; readonly status: "ok"; readonly finding: string }
  | { readonly check: string; readonly status: Trouble; readonly finding: string; readonly remedy: string };

type Trouble = "warning" | "broken" | "unchecked";

export function ok(check: string, finding: string): Finding {
  return { check, status: "ok", finding };
}

/** A fault for which `doctor` does not fail: its exit code is 1 only when something is broken. */
export function warning(check: string, finding: string, remedy: string): Finding {
  return { check, status: "warning", finding, remedy };
}

export function broken(check: string, finding: string, remedy: string): Finding {
  return { check, status: "broken", finding, remedy };
}

/**
 * A part that was not checked: a setting is missing, the key lacks a scope, or a service is away.
 */
export function unchecked(check: string, remedy: string, finding = "address unknown"): Finding {
  return { check, status: "unchecked", finding, remedy };
}
