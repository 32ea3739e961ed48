import type { Route } from "../http/route.ts";

export interface ApiTag {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Names of guides, as `guides.ts` has them. */
  readonly guides: readonly string[];
}

/** The tags in the order of the page, one group for each kind of people who use the operations. */
export const tagGroups: readonly { readonly name: string; readonly tags: readonly ApiTag[] }[] = [
  {
    name: "Push content in",
    tags: [
      {
        name: "documents",
        title: "Documents",
        description: "Create documents, and list what is published.",
        guides: ["pushing", "document-types"],
      },
      {
        name: "phrases",
        title: "Phrases",
        description: "The tenant's dictionary: list, change, import, export.",
        guides: ["phrases"],
      },
    ],
  },
  {
    name: "Build a site",
    tags: [
      {
        name: "publisher",
        title: "Published content",
        description: "Documents by id and slug, collections, sites, versions and the feed of changes.",
        guides: ["build-a-site", "publisher-reads"],
      },
    ],
  },
  {
    name: "Receive webhooks",
    tags: [
      {
        name: "endpoints",
        title: "Endpoints",
        description: "Register receivers, change and test them.",
        guides: ["webhooks"],
      },
      {
        name: "deliveries",
        title: "Deliveries and replays",
        description: "What was sent, what came of it, and sending again.",
        guides: ["webhooks"],
      },
      {
        name: "payloads",
        title: "What is posted",
        description: "The bodies that your receiver gets.",
        guides: ["verify-webhooks", "verifiers"],
      },
      {
        name: "keys",
        title: "Trust list",
        description: "Public keys that verify snapshots. Open to everybody.",
        guides: ["verify-webhooks", "keys"],
      },
    ],
  },
];

export function tagOf({ url }: Pick<Route<never>, "url">): string {
  const [, , resource = "", part = ""] = url.split("/");
  if (resource !== "webhooks") return resource;
  return part === "endpoints" && !url.endsWith("/replays") ? "endpoints" : "deliveries";
}
