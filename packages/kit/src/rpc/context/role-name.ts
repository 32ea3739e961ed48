/**
 * The form of a role in grants, members, rules of groups and settings of the command line.
 * Workflows allow fewer names. The form of a role in a call's metadata is not checked.
 */
export const rolePattern = /^[\w-]{1,64}$/;
