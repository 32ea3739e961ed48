// What the pages do beside what HTML does by itself. Every page works without this file.

/** Takes the code out of the URL before anything else, so that it stays in no history. */
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
// A link that is pasted into a tab of the same page changes the fragment alone.
addEventListener("hashchange", takeCode);
