import type { ApiKey, Scope } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls } from "../../rpc/called-methods.ts";
import { errorAt, errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { chooseScope, scopeField } from "./scope-list.ts";
import { readKey } from "./show-key.ts";

interface ChangeScopesDeps {
  readonly access: Pick<AccessCalls, "getApiKey" | "listScopes" | "updateApiKeyScopes">;
}

interface ScopesForm {
  readonly key: ApiKey;
  readonly scopes: readonly Scope[];
}

const path = "/keys/:key/scopes";
const labels = { scopes: "Scopes" };

export function editScopes({ access }: ChangeScopesDeps): TenantRoute {
  return tenantPage({
    path,
    right: "keys",
    load: (call) => loadForm(access, call),
    view: (data, call) => ({ title: "Change scopes", main: scopesForm(data, call, data.key.scopes) }),
  });
}

/** `POST /t/{tenant}/keys/{key}/scopes`: replaces the scopes of a key. */
export function changeScopes({ access }: ChangeScopesDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "keys",
    fields: labels,
    handle: async (call) => {
      const keyId = call.params["key"] ?? "";
      const scopes = call.form.getAll("scopes");
      const request = { tenantId: call.tenant.tenantId, keyId, scopes };
      const data = meanwhile(loadForm(access, call));
      if (scopes.length === 0) return formAgain(call, await data, [chooseScope]);
      const changed = await refusable(access.updateApiKeyScopes(request, call.rpc), { "/scopes": "scopes" });
      if ("value" in changed) return { to: call.at(`/keys/${keyId}?done=scopes`) };
      return formAgain(call, await data, changed.faults);
    },
  };
}

function formAgain(call: TenantCall, data: ScopesForm, faults: readonly Fault[]) {
  const main = scopesForm(data, call, call.form.getAll("scopes"), faults);
  return answerPage(call, { title: "Change scopes", main, status: 400 });
}

async function loadForm(access: ChangeScopesDeps["access"], call: TenantCall): Promise<ScopesForm> {
  const [key, { scopes }] = await Promise.all([readKey(access, call), access.listScopes({}, call.rpc)]);
  return { key, scopes };
}

function scopesForm(
  { key, scopes }: ScopesForm,
  { at }: TenantCall,
  chosen: readonly string[],
  faults: readonly Fault[] = [],
): Html {
  const page = at(`/keys/${key.keyId}`);
  const lead = "The key keeps its secret. A scope that you take away is refused within a second.";
  return html`${errorSummary(faults, labels)}
    ${pageHead({ title: html`Scopes of “<bdi>${key.name}</bdi>”`, lead, above: { label: "API keys", href: at("/keys") } })}
    <form method="post" action="${page}/scopes">
      ${scopeField(scopes, chosen, errorAt(faults, "scopes"))}
      <div class="actions">
        <button class="primary">Change the scopes</button>
        <a class="button" href="${page}">Cancel</a>
      </div>
    </form>`;
}
