interface NavigationGroup {
  readonly heading?: string;
  readonly items: readonly { readonly path: string; readonly label: string }[];
}

/** The pages that the navigation lists. */
export const navigation: readonly NavigationGroup[] = [
  { items: [{ path: "/", label: "Overview" }] },
  { heading: "You", items: [{ path: "/sessions", label: "Sessions" }] },
];
