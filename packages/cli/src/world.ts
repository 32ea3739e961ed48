export type TextStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** The process as commands see it. Tests pass their own. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths and the search for a dev stack start. */
  readonly cwd: string;
  readonly home: string;
  /** Login name; the history records changes as made by `cli:LOGIN`. */
  readonly user: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  sleep(ms: number): Promise<void>;
  /** Resolves when the user asks the command to end; absent where nobody can ask. */
  readonly interrupted?: () => Promise<void>;
}
