import type { PersonRoute, PersonCall } from "../http/route.ts";
import type { Session } from "../sessions/session.ts";
import type { SessionStore } from "../store/session-store.ts";
import { browserName } from "./browser-name.ts";
import { hidden } from "./form.ts";
import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { instant, timeAgo } from "./times.ts";

export interface GetSessionsDeps {
  readonly sessions: Pick<SessionStore, "list">;
}

/** `GET /sessions`: the sessions of whoever asks. */
export function getSessions({ sessions }: GetSessionsDeps): PersonRoute {
  return {
    access: "signed in",
    method: "GET",
    url: "/sessions",
    handle: async (call) => {
      const own = await sessions.list(call.person.session.identity, call.now);
      return { status: 200, page: sessionsPage(call, own) };
    },
  };
}

function sessionsPage({ person, now }: PersonCall, sessions: readonly Session[]): Html {
  return layout(
    { title: "Sessions", person, path: "/sessions" },
    html`<h1>Sessions</h1>
      <p class="lead">
        Where you are signed in. A session ends after 8 hours without use, and 24 hours after its sign-in. End those
        that are not yours.
      </p>
      <div class="sheet">
        <table>
          <caption>
            ${sessions.length === 1 ? "1 session" : `${sessions.length} sessions`}, the last used first
          </caption>
          <thead>
            <tr>
              <th scope="col">Browser</th>
              <th scope="col">Address</th>
              <th scope="col">Signed in</th>
              <th scope="col">Last used</th>
              <th scope="col">End</th>
            </tr>
          </thead>
          <tbody>
            ${sessions.map((session) => row(session, session.sessionId === person.session.sessionId, now))}
          </tbody>
        </table>
      </div>`,
  );
}

function row({ sessionId, from, userAgent, createdAt, lastSeenAt }: Session, isCurrent: boolean, now: Date): Html {
  const browser = browserName(userAgent);
  return html`<tr>
    <td data-label="Browser">
      <div><span title="${userAgent}">${browser}</span>${isCurrent && html` <span class="tag ok">this one</span>`}</div>
    </td>
    <td data-label="Address">
      <div><code>${from}</code></div>
    </td>
    <td data-label="Signed in"><div>${instant(createdAt)}</div></td>
    <td data-label="Last used"><div>${timeAgo(lastSeenAt, now)}</div></td>
    <td data-label="End">
      <div>
        ${
          isCurrent
            ? html`<form method="post" action="/sign-out"><button>Sign out</button></form>`
            : html`<form method="post" action="/sessions/end">
                ${hidden("session", sessionId)}<button
                  class="danger"
                  aria-label="End the session in ${browser}, ${from}"
                >
                  End
                </button>
              </form>`
        }
      </div>
    </td>
  </tr>`;
}
