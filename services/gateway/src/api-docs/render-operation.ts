import { exampleText, text } from "./html.ts";
import { kindOf, renderSchema, type Schema } from "./render-schema.ts";

interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Content = Readonly<Record<string, Media>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

/**
 * An operation, folded below its summary. The element with the operation's id is in the folded
 * part, because browsers then unfold that part for a link to the id.
 *
 * @param tryable whether the operation gets a form that sends the call
 */
export function renderOperation(path: string, method: string, operation: Operation, tryable: boolean): string {
  const { operationId, summary, description = "", parameters = [], requestBody, responses } = operation;
  const scope = operation.security.flatMap((scheme) => Object.values(scheme).flat()).join(", ");
  const answers = Object.entries(responses);
  const succeeded = answers.filter(([status]) => !(Number(status) >= 400));
  const failed = answers.filter(([status]) => Number(status) >= 400);
  return `<details class="op"><summary><h4><span class="method">${method}</span> <code>${text(path)}</code></h4> <span class="kind">${text(summary)}</span></summary>
<div id="${text(operationId)}"><p>${text(description || `${summary}.`)}</p>
<p>${scope ? `Scope <code>${text(scope)}</code>` : "Open: no key is needed"}</p>
${parameters.length > 0 ? `<h5>Parameters</h5>${renderParameters(parameters)}` : ""}
${requestBody ? `<h5>Body</h5>${renderContent(requestBody.content, "Example")}` : ""}
<h5>Answers</h5>${succeeded.map(([status, answer]) => renderSuccess(status, answer)).join("")}
${renderErrors(failed)}
${tryable ? renderForm(path, method, parameters, requestBody?.content) : ""}</div></details>
`;
}

function renderParameters(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: location, required, description = "", schema }) => {
    const kind = `${location}, ${kindOf(schema)}${required ? ", required" : ""}`;
    return `<li><code>${text(name)}</code> <span class="kind">${text(kind)}</span> ${text(description)}</li>`;
  });
  return `<ul class="members">${rows.join("")}</ul>`;
}

function renderContent(content: Content, title: string): string {
  const parts = Object.entries(content).map(([type, { schema, example }]) => {
    const shown = example === undefined ? "" : renderExamples(title, [["", example]]);
    return `<p><code>${text(type)}</code></p>${schema ? renderSchema(schema) : ""}${shown}`;
  });
  return parts.join("");
}

function renderSuccess(status: string, answer: Operation["responses"][string]): string {
  const title = `<b>${status}</b> ${text(answer.description)}`;
  if (!answer.content) return `<p>${title}</p>`;
  return `<details><summary>${title}</summary>${renderContent(answer.content, "Example")}</details>`;
}

/** Nearly all routes have the same errors, so these are folded below their status and codes. */
function renderErrors(failed: readonly (readonly [string, Operation["responses"][string]])[]): string {
  const statuses = failed.map(([status]) => status).join(", ");
  const folded = failed.map(([status, { description, content = {} }]) => {
    const examples = Object.values(content).flatMap((media) => Object.entries(media.examples ?? {}));
    const title = `<b>${status}</b> ${text(description)}`;
    return renderExamples(
      title,
      examples.map(([name, { value }]) => [name, value]),
    );
  });
  if (failed.length === 0) return "";
  return `<details><summary>Errors: ${statuses}</summary>${folded.join("")}</details>`;
}

function renderExamples(title: string, examples: readonly (readonly [string, unknown])[]): string {
  const shown = examples.map(([name, value]) => {
    const named = name === "" ? "" : `<div class="kind">${text(name)}</div>`;
    return `${named}<pre tabindex="0">${text(exampleText(value))}</pre>`;
  });
  return `<details><summary>${title}</summary>${shown.join("")}</details>`;
}

/** The form is hidden until the page's script runs. */
function renderForm(path: string, method: string, parameters: readonly Parameter[], content?: Content): string {
  const fields = parameters.map(
    ({ name, in: location, required }) =>
      `<label><code>${text(name)}</code> <input name="${text(name)}" data-in="${location}"${required ? " required" : ""}></label>`,
  );
  const bodies = Object.entries(content ?? {}).map(([type, { example }]) => ({ type, example: exampleText(example) }));
  const options = bodies.map(({ type, example }) => `<option data-example="${text(example)}">${text(type)}</option>`);
  const body = `<label>Content-Type <select>${options.join("")}</select></label>
<label>Body <textarea spellcheck="false">${text(bodies[0]?.example ?? "")}</textarea></label>`;
  return `<form class="try" data-method="${method}" data-path="${text(path)}" hidden>
${fields.join("")}${bodies.length > 0 ? body : ""}<button>Send</button><pre><output></output></pre></form>`;
}
