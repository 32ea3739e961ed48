import type { Membership } from "../rpc/memberships.ts";
import { type Right, roleFor } from "../domain/rights.ts";

interface TenantItem {
  readonly label: string;
  /** Path after `/t/{tenant}`; a page of `routes.ts`. */
  readonly path: string;
  readonly right: Right;
}

/**
 * The pages of a tenant that the navigation lists, each for members who have its right. A test
 * compares them with the routes.
 */
export const tenantNavigation: readonly { readonly heading?: string; readonly items: readonly TenantItem[] }[] = [
  { items: [{ label: "Overview", path: "", right: "member" }] },
  { heading: "Content", items: [{ label: "Phrases", path: "/phrases", right: "member" }] },
  {
    heading: "Settings",
    items: [
      { label: "API keys", path: "/keys", right: "keys" },
      { label: "Endpoints", path: "/endpoints", right: "endpoints" },
      { label: "Deliveries", path: "/deliveries", right: "endpoints" },
      { label: "Replays", path: "/replays", right: "endpoints" },
      { label: "Members", path: "/members", right: "members" },
      { label: "Audit", path: "/audit", right: "audit" },
      { label: "Trust list", path: "/trust-list", right: "member" },
    ],
  },
];

export interface NavigationItem {
  readonly label: string;
  readonly path: string;
}

export function navigationOf(
  current: Membership | undefined,
): { readonly heading: string | undefined; readonly items: readonly NavigationItem[] }[] {
  const inTenant = current
    ? tenantNavigation.map(({ heading, items }) => ({
        heading,
        items: items
          .filter(({ right }) => roleFor(right, current.roles) !== undefined)
          .map(({ label, path }) => ({ label, path: `/t/${current.tenantId}${path}` })),
      }))
    : [];
  return [...inTenant, { heading: "You", items: own }].filter(({ items }) => items.length > 0);
}

const own: readonly NavigationItem[] = [
  { label: "Newsrooms", path: "/newsrooms" },
  { label: "Sessions", path: "/sessions" },
  { label: "API docs", path: "/docs" },
];
