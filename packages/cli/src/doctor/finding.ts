/** What one check found. Whatever is not fine says what to do about it. */
export type Finding =
  | { readonly check: string; readonly status: "ok"; readonly finding: string }
  | { readonly check: string; readonly status: Trouble; readonly finding: string; readonly remedy: string };

/** `warning`: it works, but should not stay so. `unchecked`: not looked at. */
export type Trouble = "warning" | "broken" | "unchecked";

/** Nothing to do. */
export function ok(check: string, finding: string): Finding {
  return { check, status: "ok", finding };
}

/** It works, but should not stay so. */
export function warning(check: string, finding: string, remedy: string): Finding {
  return { check, status: "warning", finding, remedy };
}

/** It does not work. */
export function broken(check: string, finding: string, remedy: string): Finding {
  return { check, status: "broken", finding, remedy };
}

/** Not looked at, because nobody said where or because we may not. */
export function unchecked(check: string, remedy: string, finding = "address unknown"): Finding {
  return { check, status: "unchecked", finding, remedy };
}
