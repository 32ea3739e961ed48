/** What came back last, after redirects. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

const redirectsMax = 12;

/** Follows redirects and keeps cookies, as a browser does, for hosts that differ in their port alone. */
export class Browser {
  /** By name. The servers of a test have cookies of different names. */
  readonly cookies = new Map<string, string>();

  /** Opens a page. Stops before a URL of which `until` says so. */
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

  /** Sends a form, and follows where its answer leads. */
  async submit(url: string | URL, form: Readonly<Record<string, string>> = {}): Promise<Page> {
    const body = new URLSearchParams(form);
    const answer = await this.#send(new URL(url), { method: "POST", body });
    const to = answer.headers.get("location");
    if (to !== null) return this.open(new URL(to, url));
    return { url: new URL(url), status: answer.status, text: await answer.text() };
  }

  /** A browser with the same cookies. */
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
