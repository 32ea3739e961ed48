import { Counter, type Registry } from "prom-client";
import { ConfigError } from "./env.ts";
import type { Logger } from "./telemetry/log.ts";

interface LiveFilesOptions<T> {
  /** What the files hold, for logs and the label of the metric, for example `certificate`. */
  readonly what: string;
  /** Reads the files as bytes. Throws a ConfigError when one cannot be read. */
  readonly read: () => readonly Buffer[];
  /** Parses what `read` returned. Throws a ConfigError that lists every fault. */
  readonly parse: (contents: readonly Buffer[]) => T;
  readonly log: Logger;
  readonly registry: Registry;
  /** Pause between two reads of the files; 1 s by default. */
  readonly everyMs?: number;
}

/**
 * The value parsed from files that are replaced while the process runs. The files are read once a
 * second and not watched, because Kubernetes replaces a symbolic link above them, which a watch on
 * the files misses. While the files cannot be read or have faults, the last good value stays. A
 * fault that repeats is logged and counted again only after another fault or a new value.
 */
export class LiveFiles<T> implements Disposable {
  readonly #options: LiveFilesOptions<T>;
  readonly #listeners = new Set<(value: T) => void>();
  readonly #timer: NodeJS.Timeout;
  readonly #failures: Counter<"files">;
  #contents: readonly Buffer[];
  #value: T;
  #lastFault = "";

  /** @throws ConfigError when the files cannot be read or have faults at the start */
  constructor(options: LiveFilesOptions<T>) {
    this.#options = options;
    this.#contents = options.read();
    this.#value = options.parse(this.#contents);
    this.#failures = reloadFailures(options.registry);
    this.#failures.inc({ files: options.what }, 0);
    this.#timer = setInterval(() => this.reload(), options.everyMs ?? 1_000).unref();
  }

  get value(): T {
    return this.#value;
  }

  onChange(listener: (value: T) => void): void {
    this.#listeners.add(listener);
  }

  removeListener(listener: (value: T) => void): void {
    this.#listeners.delete(listener);
  }

  /** Reads the files now. Calls the listeners when the contents changed and have no faults. */
  reload(): void {
    const { what, read, parse, log } = this.#options;
    try {
      const contents = read();
      if (contents.every((content, at) => this.#contents[at]?.equals(content))) return;
      const value = parse(contents);
      this.#contents = contents;
      this.#value = value;
    } catch (error) {
      return this.#reportFault(error);
    }
    this.#lastFault = "";
    for (const listener of this.#listeners) listener(this.#value);
    log.info({ files: what }, "files reloaded");
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  #reportFault(error: unknown): void {
    if (!(error instanceof ConfigError)) throw error;
    if (error.message === this.#lastFault) return;
    this.#lastFault = error.message;
    this.#failures.inc({ files: this.#options.what });
    this.#options.log.error({ err: error, files: this.#options.what }, "files not usable, the last good ones stay");
  }
}

function reloadFailures(registry: Registry): Counter<"files"> {
  const name = "vidimus_reload_failures_total";
  const known = registry.getSingleMetric(name);
  if (known instanceof Counter) return known;
  return new Counter({
    name,
    help: "Changes of files that could not be used, so that the last good files stay.",
    labelNames: ["files"],
    registers: [registry],
  });
}
