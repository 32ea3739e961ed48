/** A fault of the machine or its settings, told in words that say what to do. Print its message, not its stack. */
export class DevstackError extends Error {
  override readonly name: string = "DevstackError";
}

/** Somebody else listens on the port. */
export class PortTakenError extends DevstackError {
  override readonly name = "PortTakenError";
}
