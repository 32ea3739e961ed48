/** A fault of the machine or its settings, not of the code, so it is printed without its stack. */
export class DevstackError extends Error {
  override readonly name: string = "DevstackError";
}

export class PortTakenError extends DevstackError {
  override readonly name = "PortTakenError";
}
