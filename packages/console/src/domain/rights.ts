/** Roles of the platform, the strongest first. All other roles belong to workflows. */
const platformRoles = ["owner", "admin", "integrator"] as const;

/** From a right that pages need to the roles that have it, the strongest first. */
const rolesOf = {
  keys: ["owner", "admin"],
  audit: ["owner", "admin"],
  /** Endpoints, deliveries and replays. */
  endpoints: ["owner", "admin", "integrator"],
  /** Listing members; making and revoking invitations. */
  members: ["owner", "admin"],
  /** Changing and removing members. */
  "change members": ["owner"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A right that a page needs; every member has `member`. */
export type Right = keyof typeof rolesOf | "member";

/**
 * The role in which a member uses a right: the strongest of its roles that has the right. Undefined
 * when no role has it. "" for the right `member` of a person without a platform role: services are
 * then told no role.
 */
export function roleFor(right: Right, roles: readonly string[]): string | undefined {
  if (right === "member") return platformRoles.find((role) => roles.includes(role)) ?? "";
  return rolesOf[right].find((role) => roles.includes(role));
}

/** Every right but `member`. */
export const rights = Object.keys(rolesOf) as (keyof typeof rolesOf)[];

/** The roles with a right, to name them on a page; none for `member`, which needs no role. */
export function rolesWith(right: Right): readonly string[] {
  return right === "member" ? [] : rolesOf[right];
}
