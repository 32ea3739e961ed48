// Sends calls of the reference from the browser to the server of the page. The key stays in its
// field: it is not stored and not put into a URL.
const charactersMax = 100_000;

/** The URL of a call, with path and query parameters from the form's fields. */
function urlOf(form) {
  const fields = [...form.querySelectorAll("input")].filter((field) => field.value !== "");
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const { name, value, dataset } of fields) {
    if (dataset.in === "query") query.append(name, value);
    else path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

function requestOf(form) {
  const body = form.querySelector("textarea");
  const key = document.querySelector("#key input").value.trim();
  return {
    method: form.dataset.method,
    cache: "no-store",
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(body ? { "content-type": form.querySelector("select").value } : {}),
    },
    ...(body ? { body: body.value } : {}),
  };
}

function shown(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, charactersMax);
  } catch {
    return text.slice(0, charactersMax);
  }
}

async function send(form) {
  const output = form.querySelector("output");
  const url = urlOf(form);
  output.textContent = "…";
  try {
    const response = await fetch(url, requestOf(form));
    const headers = ["content-type", "x-request-id", "retry-after", "ratelimit", "etag"]
      .filter((name) => response.headers.has(name))
      .map((name) => `${name}: ${response.headers.get(name)}`);
    const lines = [`${form.dataset.method} ${url}`, `${response.status} ${response.statusText}`, ...headers, ""];
    output.textContent = lines.join("\n") + shown(await response.text());
  } catch (error) {
    output.textContent = `The call failed: ${error.message}`;
  }
}

for (const form of document.querySelectorAll("form.try")) {
  form.hidden = false;
  const body = form.querySelector("textarea");
  const idIn = (text = "") => /"id": "([0-9a-f-]{36})"/.exec(text)?.[1];
  let exampleId = idIn(body?.value);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // A new id for each call, because a second document with the same id is refused with 409. An id
    // that the person has typed stays.
    if (exampleId && idIn(body.value) === exampleId) {
      body.value = body.value.replace(exampleId, crypto.randomUUID());
      exampleId = idIn(body.value);
    }
    void send(form);
  });
  form.querySelector("select")?.addEventListener("change", ({ target }) => {
    body.value = target.selectedOptions[0].dataset.example;
    exampleId = idIn(body.value);
  });
}
