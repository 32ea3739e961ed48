import { type Timestamp, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ApiKey, Scope } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls } from "../../rpc/called-methods.ts";
import type { MadeByForm } from "../../store/sent-form-store.ts";
import { type Fault, refusable } from "../parts/faults.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { lookFor, sentBefore } from "../parts/sent-before.ts";
import { type SentForms, takeForm } from "../parts/take-form.ts";
import { readUtc } from "../parts/utc-field.ts";
import { answerPage } from "../parts/tenant-page.ts";
import { madePage } from "./made-page.ts";
import { newKeyForm, newKeyLabels } from "./new-key.ts";
import { chooseScope } from "./scope-list.ts";

interface CreateKeyDeps {
  readonly access: Pick<AccessCalls, "createApiKey" | "listScopes">;
  readonly sentForms: SentForms;
  readonly apiOrigin: URL;
}

const dayMs = 86_400_000;
const fields = { "/name": "name", "/scopes": "scopes", "/expiresAt": "ends" };

/** `POST /t/{tenant}/keys/new`: makes a key, and shows its secret once. */
export function createKey({ access, sentForms, apiOrigin }: CreateKeyDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/keys/new",
    right: "keys",
    recentSignIn: true,
    fields: newKeyLabels,
    handle: async (call) => {
      const { form, tenant, rpc } = call;
      const expiresAt = endOf(form.get("ends") ?? "");
      const scopesChosen = form.getAll("scopes");
      if (expiresAt === "malformed" || scopesChosen.length === 0) {
        const { scopes } = await access.listScopes({}, rpc);
        return formAgain(call, scopes, [scopesChosen.length === 0 ? chooseScope : notADate]);
      }
      const request = {
        tenantId: tenant.tenantId,
        name: form.get("name") ?? "",
        scopes: scopesChosen,
        ...(expiresAt && { expiresAt }),
      };
      const taken = await takeForm(sentForms, call);
      if ("before" in taken) return madeBefore(call, taken.before);
      const scopes = meanwhile(access.listScopes({}, taken.rpc));
      const making = access.createApiKey(request, taken.rpc);
      const made = await refusable(taken.settle(making, madeKey(call)), fields);
      if ("faults" in made) return formAgain(call, (await scopes).scopes, made.faults);
      return answerPage(call, madePage(call, { ...made.value, apiOrigin, what: "is made" }));
    },
  };
}

const notADate = { field: "ends", error: "This is not a date." };

function formAgain(call: TenantCall, scopes: readonly Scope[], faults: readonly Fault[]) {
  return answerPage(call, { title: "New key", main: newKeyForm(call, { scopes, faults }), status: 400 });
}

/** What `settle` keeps of the made key: its name, and the page that replaces an unseen secret. */
export function madeKey({ at }: TenantCall) {
  return ({ apiKey }: { readonly apiKey?: ApiKey | undefined }) => ({
    name: apiKey?.name ?? "",
    path: at(`/keys/${apiKey?.keyId ?? ""}/roll`),
  });
}

export function madeBefore(call: TenantCall, made: MadeByForm | undefined) {
  const list = { label: "To the keys", href: call.at("/keys") };
  return sentBefore(call, made, { advice: lookFor("key"), replace: "Roll the key", list });
}

/** The end of a day in UTC; undefined for an empty text. */
function endOf(text: string): Timestamp | undefined | "malformed" {
  if (text === "") return undefined;
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? readUtc(`${text}T00:00`) : "malformed";
  return typeof day === "object" ? timestampFromMs(timestampMs(day) + dayMs) : "malformed";
}
