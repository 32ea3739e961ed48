import type { Scope } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls } from "../../rpc/called-methods.ts";
import { errorAt, errorSummary, type Fault } from "../parts/faults.ts";
import { textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { onceField } from "../parts/take-form.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { scopeField } from "./scope-list.ts";

interface NewKeyDeps {
  readonly access: Pick<AccessCalls, "listScopes">;
}

export function newKey({ access }: NewKeyDeps): TenantRoute {
  return tenantPage({
    path: "/keys/new",
    right: "keys",
    recentSignIn: true,
    load: async ({ rpc }) => (await access.listScopes({}, rpc)).scopes,
    view: (scopes, call) => ({ title: "New key", main: newKeyForm(call, { scopes }) }),
  });
}

interface NewKeyForm {
  readonly scopes: readonly Scope[];
  readonly faults?: readonly Fault[];
}

const lead = "A program shows the key with every call. Give each program its own, and no more scopes than it needs.";

/** From field name to label; see `fields` of a route. */
export const newKeyLabels = { name: "Name", scopes: "Scopes", ends: "Last day" };

export function newKeyForm({ form, at, now }: TenantCall, { scopes, faults = [] }: NewKeyForm): Html {
  return html`${errorSummary(faults, newKeyLabels)}
    ${pageHead({ title: "New key", lead, above: { label: "API keys", href: at("/keys") } })}
    <form method="post" action="${at("/keys/new")}">
      ${textField({
        name: "name",
        label: "Name",
        hint: "For people: the program that has the key, such as “Wire importer”.",
        value: form.get("name") ?? "",
        max: 200,
        error: errorAt(faults, "name"),
      })}
      ${scopeField(scopes, form.getAll("scopes"), errorAt(faults, "scopes"))}
      ${textField({
        name: "ends",
        label: "Last day (optional)",
        hint: "The key ends with this day, in UTC. Without one it holds until it is revoked.",
        type: "date",
        value: form.get("ends") ?? "",
        min: now.toISOString().slice(0, 10),
        isOptional: true,
        error: errorAt(faults, "ends"),
      })}
      ${onceField()}
      <div class="actions">
        <button class="primary">Make the key</button>
        <a class="button" href="${at("/keys")}">Cancel</a>
      </div>
    </form>`;
}
