// Enhances the pages. Every page works without this file.

/**
 * Moves the code of a sign-in or an invitation from the URL's fragment into its form, and sends the
 * form. The code is removed from the URL first, so that it stays in no history.
 */
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  const field = document.querySelector('input[data-fragment="code"]');
  if (!field) return;
  field.closest("details")?.setAttribute("open", "");
  field.value = code;
  field.form.requestSubmit();
}

takeCode();
// A link that is pasted into a tab with the same page changes only the fragment, so the browser
// does not load the page and this script again.
addEventListener("hashchange", takeCode);

async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    say(button, "Copied");
  } catch {
    // The clipboard is available only with https and on loopback, and a browser may refuse it.
    if (source.select) source.select();
    else getSelection()?.selectAllChildren(source);
    say(button, "Press Ctrl+C");
  }
}

function say(button, text) {
  button.textContent = text;
  button.setAttribute("aria-label", text);
}

/** Buttons that copy the text of another element. They are hidden without this script. */
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", () => void copy(source, button));
}

// A browser may keep the page in memory to show it again on "back", so secrets are removed.
addEventListener("pagehide", () => {
  for (const secret of document.querySelectorAll("[data-secret]")) {
    if ("value" in secret) secret.value = "";
    else secret.textContent = "";
  }
});

// A second click would send the form again, and its answer would replace the first one, which may
// show a secret.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

const liveMs = 2_000;

/** A link that loads the page anew, once the replay that the page follows has ended. */
function toEnd() {
  const link = document.createElement("a");
  link.href = location.pathname;
  link.className = "button primary";
  link.textContent = "It has ended: load the page";
  return link;
}

/**
 * Reads a page as a document, because trusted types refuse to parse markup from a string.
 */
function readPage(url) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", url);
    request.responseType = "document";
    request.addEventListener("load", () => resolve(request));
    request.addEventListener("error", reject);
    request.send();
  });
}

/**
 * Every two seconds, takes the state and the progress in the part marked `data-live` from a fresh
 * copy of the page. The element of the state stays, and changes only with the state, so that screen
 * readers say no more than that. Once the server no longer marks the part, a link to the page as it
 * is then replaces the buttons for a running replay.
 */
async function follow() {
  const live = document.querySelector("[data-live]");
  if (!live) return;
  try {
    const url = new URL(location.href);
    url.searchParams.set("live", "yes");
    const { status, responseURL, response: page } = await readPage(url.href);
    if (status !== 200 || responseURL !== url.href) return;
    const next = page.getElementById(live.id);
    if (!next) return;
    const [state, nextState] = [live, next].map((part) => part.querySelector('[role="status"]'));
    if (nextState.textContent !== state.textContent) state.replaceChildren(...nextState.childNodes);
    const hasMoved = live.lastElementChild.textContent !== next.lastElementChild.textContent;
    // The note says that the replay waits, which is over once its progress changes.
    if (hasMoved) live.querySelector(".note")?.remove();
    live.lastElementChild.replaceWith(next.lastElementChild);
    if (!next.hasAttribute("data-live")) {
      document.querySelector("main .actions").replaceChildren(toEnd());
      return;
    }
  } catch {
    // After a failure the page is read again two seconds later.
  }
  setTimeout(() => void follow(), liveMs);
}
if (document.querySelector("[data-live]")) setTimeout(() => void follow(), liveMs);

// Scrolls to the summary of a form's faults.
document.querySelector('[role="alert"]')?.scrollIntoView({ block: "nearest" });
