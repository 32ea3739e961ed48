/** A fault of the machine or its settings. The message says what to do, so no stack is printed. */
export class DevstackError extends Error {
  override readonly name: string = "DevstackError";
}

export class PortTakenError extends DevstackError {
  override readonly name = "PortTakenError";
}
