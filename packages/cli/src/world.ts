/** A stream that text is written to. */
export type TextStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** What the commands see of the process they run in; tests hand in another one. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths and the search for a dev stack start. */
  readonly cwd: string;
  /** The user's home folder. */
  readonly home: string;
  /** Login name, for the history of what is changed. */
  readonly user: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  sleep(ms: number): Promise<void>;
}
