/**
 * The form of a role in grants and members, and in the settings of the command line. Workflows
 * allow fewer names, and a role in a call's metadata may have any form.
 */
export const rolePattern = /^[\w-]{1,64}$/;
