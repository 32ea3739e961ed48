/** The form of a role, in metadata, grants, members and workflows. */
export const rolePattern = /^[\w-]{1,64}$/;
