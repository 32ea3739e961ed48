/** The last answer, after redirects. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

/** Fields of a form; a list where a name comes more than once; with files as `FormData`. */
type Form = Readonly<Record<string, string>> | [string, string][] | FormData;

const redirectsMax = 12;

/**
 * Follows redirects and keeps cookies. Sends every cookie with every request, so all URLs must have
 * the same host; their ports may differ.
 */
export class Browser {
  /** Values by name; the servers of a test use different names. */
  readonly cookies = new Map<string, string>();

  /**
   * Opens a page. Stops before a redirect to a URL for which `until` is true; the page has no text
   * then.
   */
  async open(url: string | URL, until: (url: URL) => boolean = () => false): Promise<Page> {
    let next = new URL(url);
    for (let count = 0; count < redirectsMax; count += 1) {
      const answer = await this.#send(next, { method: "GET" });
      const to = answer.headers.get("location");
      if (to === null) return { url: next, status: answer.status, text: await answer.text() };
      next = new URL(to, next);
      if (until(next)) return { url: next, status: answer.status, text: "" };
    }
    throw new Error(`redirected for ever, last to ${next.href}`);
  }

  async submit(url: string | URL, form: Form = {}): Promise<Page> {
    const answer = await this.#send(new URL(url), { method: "POST", body: bodyOf(form) });
    const to = answer.headers.get("location");
    if (to !== null) return this.open(new URL(to, url));
    return { url: new URL(url), status: answer.status, text: await answer.text() };
  }

  /** Sends a form, and leaves before it is answered, once `when` is resolved. */
  async drop(url: string | URL, form: Form, when: Promise<unknown>): Promise<void> {
    const leaving = new AbortController();
    const sending = this.#send(new URL(url), { method: "POST", body: bodyOf(form), signal: leaving.signal });
    void when.then(() => leaving.abort());
    await sending.catch(() => undefined);
  }

  copy(): Browser {
    const copy = new Browser();
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  async #send(url: URL, init: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { cookie, origin: url.origin };
    const answer = await fetch(url, { ...init, redirect: "manual", headers });
    for (const line of answer.headers.getSetCookie()) this.#keep(line);
    return answer;
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === "" || /max-age=0\b/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

function bodyOf(form: Form): URLSearchParams | FormData {
  if (form instanceof FormData) return form;
  return new URLSearchParams(Array.isArray(form) ? form : Object.entries(form));
}
