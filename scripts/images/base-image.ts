/** The stage of deploy/images/Containerfile that is made from the building machine's libraries. */
export const ownBase = "base";

/**
 * Refuses a base that is not named by its digest: a tag may name other bytes tomorrow, and the bill
 * of materials could not say what the images contain.
 *
 * @throws Error for a base without a digest, except `ownBase`
 */
export function checkBase(base: string): void {
  if (base === ownBase || /^[^@\s]+@sha256:[0-9a-f]{64}$/.test(base)) return;
  throw new Error(`name the base by its digest, such as gcr.io/distroless/cc-debian13@sha256:…, not "${base}"`);
}
