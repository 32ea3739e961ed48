/** Roles as a phrase: `owner`, `owner and chief`, `owner, chief and editor`. */
export function roleList(roles: readonly string[]): string {
  return [roles.slice(0, -1).join(", "), ...roles.slice(-1)].filter((part) => part !== "").join(" and ");
}
