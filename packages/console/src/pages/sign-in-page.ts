import { errorSummary } from "./parts/faults.ts";
import { hidden, textField } from "./parts/form.ts";
import { type Html, html } from "../markup/html.ts";
import { layout } from "./layout.ts";

export interface SignInWays {
  readonly origin: URL;
  /** Whether people may sign in with one-time codes. */
  readonly links: boolean;
  /** The issuer; undefined when one-time codes are the only way to sign in. */
  readonly provider: { readonly issuer: string } | undefined;
}

/** Names all causes, because access answers an unknown, a used and an expired code alike. */
export const codeEnded = "This code was used already, its ten minutes are over, or it is not one for signing in.";

/** For pages about invitations where no issuer is set up. */
export const codesOnly = html`People sign in here with one-time codes only. Whoever operates the platform makes one for
  each person: <code>vidimus console sign-in --as NAME --roles ROLE</code>.`;

interface SignInPage {
  readonly returnTo: string;
  readonly again?: boolean;
  readonly error?: string;
}

export function signInPage({ links, provider }: SignInWays, { returnTo, again = false, error }: SignInPage): Html {
  const title = again ? "Sign in again" : "Sign in";
  return layout(
    { title },
    html`${error !== undefined && errorSummary([{ field: "code", error }])}
      <h1>${title}</h1>
      ${again && html`<p class="lead">What you are about to do needs a sign-in of the last 15 minutes.</p>`}
      ${provider && issuerLink(provider.issuer, returnTo, again)} ${links && codeForm(returnTo, error)}`,
  );
}

/**
 * A link instead of a form, because `form-action` also applies to redirects after a form, and the
 * issuer is another origin.
 */
function issuerLink(issuer: string, returnTo: string, again: boolean): Html {
  const query = new URLSearchParams({ return: returnTo, ...(again && { again: "1" }) });
  return html`<p>
    <a class="button primary" href="/sign-in/oidc?${query.toString()}">Sign in with ${new URL(issuer).host}</a>
  </p>`;
}

function codeForm(returnTo: string, error: string | undefined): Html {
  const hint = "From the link that was printed for you. It signs in once, within ten minutes.";
  return html`<form method="post" action="/sign-in">
      ${textField({ name: "code", label: "One-time code", hint, error, isCode: true })} ${hidden("return", returnTo)}
      <button class="primary">Continue</button>
    </form>
    <p class="q">
      For a new code, someone who operates the platform runs <code>vidimus console sign-in --as NAME</code>, with your
      name: the same name is the same person.
    </p>`;
}
