/**
 * Starts a call whose answer is needed only when a form has faults. It runs while the form is
 * handled; started later it would be a third round of calls. Its failure counts only where it is
 * awaited, so that it does not hide a new secret.
 */
export function meanwhile<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  return answer;
}
