import type { Registry } from "prom-client";
import { ConfigError } from "../../../env.ts";
import { LiveFiles } from "../../../live-files.ts";
import { readGuardedFile } from "../../../private-file.ts";
import type { Logger } from "../../../telemetry/log.ts";
import type { Grants } from "./grants.ts";
import { grantsBytesMax, parseGrants } from "./parse-grants.ts";

interface LiveGrantsOptions {
  readonly file: string;
  readonly log: Logger;
  readonly registry: Registry;
  /** Pause between two reads of the file; 1 s by default. */
  readonly everyMs?: number;
}

/**
 * Follows changes of the grants file. While it has faults, the last good grants stay.
 *
 * @throws ConfigError that lists every fault of the file at the start
 */
export function openLiveGrants({ file, ...options }: LiveGrantsOptions): LiveFiles<Grants> {
  return new LiveFiles<Grants>({
    ...options,
    what: "grants",
    read: () => [readGuardedFile(file, grantsBytesMax)],
    parse: ([content]) => parse(file, content?.toString("utf8") ?? ""),
  });
}

function parse(file: string, text: string): Grants {
  try {
    return parseGrants(text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.message.replaceAll(/^/gm, `GRANTS_FILE: ${file}: `));
  }
}
