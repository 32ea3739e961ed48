/** A configuration that cannot be used; the message lists every fault, one a line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

interface IntegerRule {
  min: number;
  max: number;
  fallback?: number;
}

/**
 * Reads settings from an environment, and reports every bad one at once.
 *
 * Call the readers, then `finish()`, which throws a `ConfigError` when any setting was missing or wrong. An empty
 * variable counts as missing. Until `finish()` a faulty setting reads as a harmless placeholder.
 */
export class EnvReader {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #faults: string[] = [];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  /** A text setting; required unless a fallback is given. */
  string(name: string, rule: { fallback?: string; pattern?: RegExp; shape?: string } = {}): string {
    const value = this.#env[name] || rule.fallback;
    if (value === undefined) return this.#fault(`${name} is required`, "");
    if (rule.pattern && !rule.pattern.test(value)) {
      return this.#fault(`${name} must be ${rule.shape ?? String(rule.pattern)}, not "${value}"`, "");
    }
    return value;
  }

  /** A text setting that may be absent. */
  optional(name: string): string | undefined {
    return this.#env[name] || undefined;
  }

  /** A whole number within bounds, in plain decimal digits. */
  int(name: string, { min, max, fallback }: IntegerRule): number {
    const text = this.#env[name] || undefined;
    if (text === undefined) return fallback ?? this.#fault(`${name} is required`, min);
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    return this.#fault(`${name} must be an integer from ${min} to ${max}, not "${text}"`, min);
  }

  /** One of a closed list of words. */
  oneOf<const T extends string>(name: string, values: readonly [T, ...T[]], fallback: T): T {
    const text = this.#env[name] || fallback;
    const found = values.find((value) => value === text);
    return found ?? this.#fault(`${name} must be one of ${values.join(", ")}, not "${text}"`, fallback);
  }

  /** A switch: `on` or `off`. */
  onOff(name: string, fallback: "on" | "off"): boolean {
    return this.oneOf(name, ["on", "off"], fallback) === "on";
  }

  /** Records a fault found by a caller's own parsing. */
  fault(message: string): void {
    this.#faults.push(message);
  }

  /** Throws a `ConfigError` naming every fault there was. */
  finish(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults.join("\n"));
  }

  #fault<T>(message: string, placeholder: T): T {
    this.#faults.push(message);
    return placeholder;
  }
}
