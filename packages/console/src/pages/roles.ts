const lists = new Intl.ListFormat("en", { type: "conjunction" });

/** Roles as a phrase: `owner and chief`. */
export function roleList(roles: readonly string[]): string {
  return lists.format(roles);
}
