/**
 * The routes of a console, such as `GET /t/:tenant/keys`, of which a request took more than two
 * rounds of calls to services.
 *
 * @param ops URL of the console's ops port, whose metrics count the rounds
 */
export async function slowRoutes(ops: string): Promise<string[]> {
  const metrics = await (await fetch(`${ops}/metrics`)).text();
  const counts = new Map<string, { within: number; all: number }>();
  for (const [, labels = "", count] of metrics.matchAll(/^vidimus_console_rpc_rounds_bucket\{([^}]*)\} (\d+)$/gm)) {
    const {
      le = "",
      method,
      route,
    } = Object.fromEntries(
      Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, name, value]) => [name, value]),
    ) as Record<string, string>;
    const name = `${method} ${route}`;
    const row = counts.get(name) ?? { within: 0, all: 0 };
    if (le === "2") row.within = Number(count);
    if (le === "+Inf") row.all = Number(count);
    counts.set(name, row);
  }
  if (counts.size === 0) throw new Error("the console has measured no request");
  return [...counts].filter(([, { within, all }]) => within < all).map(([name]) => name);
}
