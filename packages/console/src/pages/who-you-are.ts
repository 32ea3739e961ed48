import type { Person } from "../http/route.ts";
import { type Html, html } from "../markup/html.ts";

export function whoYouAre({ session, memberId }: Person): Html {
  const way = session.way === "link" ? "with a one-time code" : `at ${new URL(session.identity.issuer).host}`;
  return html`<dl>
    <div>
      <dt>Name</dt>
      <dd dir="auto">${session.name}</dd>
    </div>
    ${
      session.address !== "" &&
      html`<div>
        <dt>Address</dt>
        <dd>${session.address}</dd>
      </div>`
    }
    <div>
      <dt>Signed in</dt>
      <dd>${way}</dd>
    </div>
    <div>
      <dt>In the audit as</dt>
      <dd><code>${memberId}</code></dd>
    </div>
  </dl>`;
}
