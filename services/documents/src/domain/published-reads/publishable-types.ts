/** The types that readers may see. */
export const publishableTypes = [
  "core/article",
  "core/image",
  "core/audio",
  "core/tag",
  "core/publisher-site",
] as const;

export function isPublishableType(type: string): boolean {
  return publishableTypes.some((publishable) => publishable === type);
}
