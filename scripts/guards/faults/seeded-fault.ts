/** A fault to put into the sources, and test files of which a test must fail because of it. */
export interface SeededFault {
  readonly name: string;
  /** Text that occurs exactly once in the sources, in any file. All white space is equal. */
  readonly search: string;
  readonly replacement: string;
  /** `unit NAME` or `integration NAME` of `NAME.test.ts`. */
  readonly tests: readonly string[];
}
