export const siteType = "core/publisher-site";
