import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall } from "../../http/route.ts";
import { apiDocsUrl } from "../api-docs.ts";
import { codeBlock } from "../parts/copyable.ts";
import { type Content, html } from "../../markup/html.ts";
import { secretPage } from "../parts/secret-page.ts";
import type { View } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { scopeList } from "./scope-list.ts";
import { tryIt } from "./try-it.ts";

interface Made {
  readonly apiKey?: ApiKey | undefined;
  readonly secret: string;
  readonly apiOrigin: URL;
  /** What happened; follows the name of the key: `is made`. */
  readonly what: string;
  /** Text about the key that the new one replaces. */
  readonly more?: Content | undefined;
}

export function madePage({ at }: TenantCall, { apiKey, secret, apiOrigin, what, more }: Made): View {
  const { name = "", scopes = [], expiresAt } = apiKey ?? {};
  const command = tryIt({ api: apiOrigin, key: secret, scopes });
  const use =
    command === undefined
      ? noCommand(apiOrigin)
      : html`<h2>Try it</h2>
          ${codeBlock({ id: "try", label: "Command that tries the key", code: command, isSecret: true })}`;
  const docs = apiDocsUrl(apiOrigin);
  const about = html`<p>
      ${scopeList(scopes)} ${expiresAt ? html`ends ${instant(timestampDate(expiresAt))}` : "holds until it is revoked"}
    </p>
    <p>For whoever writes the program, the API's documentation: <a href="${docs}">${docs}</a></p>
    ${more}`;
  const title = html`“<bdi>${name}</bdi>” ${what}`;
  const main = secretPage({
    title,
    secret,
    label: "API key",
    subject: "The key",
    use,
    about,
    next: at("/keys?done=stored"),
  });
  return { title: `Key ${what}`, main };
}

const noCommand = (api: URL) =>
  html`<h2>Try it</h2>
    <p>With this key a program registers webhook endpoints at <code>${api.origin}/v1/webhooks/endpoints</code>.</p>`;
