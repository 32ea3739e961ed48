import type { DevJson } from "./dev-json.ts";

/** Returns what `npm start` prints when all processes run. */
export function welcome(dev: DevJson, consoleLink: string | undefined): string {
  const apiKey = dev.tenants[0]?.apiKey ?? "";
  return `
Vidimus runs. Ctrl-C or npm stop stops it; data, keys and logs are kept in .vidimus/ (npm start -- --fresh starts over).

  public API   ${dev.gateway}
  API docs     ${dev.gateway}/docs
  gRPC         ${Object.entries(dev.grpc)
    .map(([name, target]) => `${name} ${target}`)
    .join("\n               ")}
  metrics      ${dev.ops.gateway}/metrics
  API key      ${apiKey}  (tenant ${dev.tenants[0]?.id})
  Console      ${consoleLink}
               signs in once, within ten minutes; npx vidimus console sign-in makes another link

Try next, in another terminal:

  curl -s '${dev.gateway}/v1/documents?type=core/article' -H 'Authorization: Bearer ${apiKey}'
  npm run demo
`;
}
