import { InvalidArgumentError } from "commander";

/**
 * Makes a parser for an option that is a whole number from `min` to `max`.
 *
 * @throws InvalidArgumentError from the parser, for any other text; commander prints it, and the
 * command exits with 2
 */
export function wholeNumber(min: number, max = 999_999_999): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
