/**
 * A setting, a file that a setting names, or the database is not usable, which an operator has to
 * mend. The message has one fault on each line.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

interface IntegerRule {
  min: number;
  max: number;
  fallback?: number;
}

/**
 * Reads settings from environment variables and reports all faults together.
 *
 * Call the readers, then `finish()`, which throws a `ConfigError` when a setting was missing or
 * wrong. A reader returns a placeholder for a faulty setting, so that the settings after it are
 * checked too. An empty variable counts as missing.
 */
export class EnvReader {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #faults: string[] = [];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  /**
   * A text setting. Required unless there is a fallback; `shape` describes `pattern` in messages.
   */
  string(name: string, rule: { fallback?: string; pattern?: RegExp; shape?: string } = {}): string {
    const value = this.#env[name] || rule.fallback;
    if (value === undefined) return this.#fault(`${name} is required`, "");
    if (rule.pattern && !rule.pattern.test(value)) {
      return this.#fault(`${name} must be ${rule.shape ?? String(rule.pattern)}, not "${value}"`, "");
    }
    return value;
  }

  optional(name: string): string | undefined {
    return this.#env[name] || undefined;
  }

  /** A whole number in plain decimal digits. Required unless there is a fallback. */
  int(name: string, { min, max, fallback }: IntegerRule): number {
    const text = this.#env[name] || undefined;
    if (text === undefined) return fallback ?? this.#fault(`${name} is required`, min);
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    return this.#fault(`${name} must be an integer from ${min} to ${max}, not "${text}"`, min);
  }

  oneOf<const T extends string>(name: string, values: readonly [T, ...T[]], fallback: T): T {
    const text = this.#env[name] || fallback;
    const found = values.find((value) => value === text);
    return found ?? this.#fault(`${name} must be one of ${values.join(", ")}, not "${text}"`, fallback);
  }

  onOff(name: string, fallback: "on" | "off"): boolean {
    return this.oneOf(name, ["on", "off"], fallback) === "on";
  }

  /** Adds a fault that the caller found in a setting, for `finish` to report. */
  fault(message: string): void {
    this.#faults.push(message);
  }

  /** Throws a `ConfigError` that lists every fault, if there is one. */
  finish(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults.join("\n"));
  }

  #fault<T>(message: string, placeholder: T): T {
    this.#faults.push(message);
    return placeholder;
  }
}
