/**
 * Lets a call run while a form is handled. The answer is needed only when the form has faults, but
 * a call that starts only after the faults are known would be a third round. A failure of the call
 * counts only where the answer is awaited, so that it does not keep a new secret from its reader.
 */
export function meanwhile<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  return answer;
}
