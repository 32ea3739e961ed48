import { PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { type Column, dataTable } from "../parts/data-table.ts";
import { emptyState } from "../parts/empty-state.ts";
import { errorAt, errorSummary, type Fault, type Outcome, refusable } from "../parts/faults.ts";
import { filterForm } from "../parts/filter-form.ts";
import { textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { caption, type ListPage, pager, positionOf } from "../parts/pager.ts";
import { type Part, partOf, showPart } from "../parts/service-down.ts";
import { state } from "../parts/state.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { timeAgo } from "../parts/times.ts";
import { readPhrases, type StoredPhrase } from "./stored-phrase.ts";

export interface GetPhrasesDeps {
  readonly phrases: Pick<PhraseCalls, "listPhrases">;
}

const rowsOfPage = 50;

interface Found extends ListPage {
  readonly rows: readonly StoredPhrase[];
}

type Answered = Part<Outcome<Found>>;

export function getPhrases({ phrases }: GetPhrasesDeps): TenantRoute {
  return tenantPage({
    path: "/phrases",
    right: "member",
    load: (call) =>
      partOf(call, "phrases", refusable(find(phrases, call), { "/language": "language", "/contains": "contains" })),
    view: (answered, call) => ({ title: "Phrases", main: listPage(answered, call) }),
  });
}

function asked({ query }: TenantCall): { readonly contains: string; readonly language: string } {
  return { contains: query.get("contains")?.trim() ?? "", language: query.get("language")?.trim() ?? "" };
}

async function find(phrases: GetPhrasesDeps["phrases"], call: TenantCall): Promise<Found> {
  const { pageToken, from } = positionOf(call.query);
  const { tenantId } = call.tenant;
  const request = { tenantId, ...asked(call), format: PhraseFormat.JSON, limit: rowsOfPage, pageToken };
  const rows: StoredPhrase[] = [];
  let next = "";
  for await (const { content, nextPageToken } of phrases.listPhrases(request, call.rpc)) {
    rows.push(...readPhrases(content));
    next = nextPageToken;
  }
  return { rows, pageToken, from, count: rows.length, nextPageToken: next };
}

function listPage(answered: Answered, call: TenantCall): Html {
  const faults = "value" in answered && "faults" in answered.value ? answered.value.faults : [];
  const { at, query } = call;
  const { language } = asked(call);
  const only = language === "" ? "" : `?${new URLSearchParams({ language })}`;
  return html`${errorSummary(faults, labels)}
    ${pageHead({
      title: "Phrases",
      lead: "Words and phrases that this newsroom wants spelled, flagged or corrected in a certain way.",
      aside: html`<div class="actions">
        ${linkButton("Import", at("/phrases/import"))} ${linkButton("Export", at(`/phrases/export${only}`))}
        ${linkButton("New phrase", at(`/phrases/new${only}`), "primary")}
      </div>`,
    })}
    ${doneNotice(query, { deleted: "The phrase is deleted." })} ${filters(call, faults)}
    <p class="hint">Common mistakes are not searched.</p>
    ${showPart(answered, (outcome) => ("value" in outcome ? rowsOf(outcome.value, call) : html``))}`;
}

const labels = { contains: "Text in the phrase", language: "Language, such as sv" };

function filters(call: TenantCall, faults: readonly Fault[]): Html {
  const { contains, language } = asked(call);
  const fields = [
    textField({
      name: "contains",
      label: labels.contains,
      type: "search",
      value: contains,
      isOptional: true,
      max: 256,
      error: errorAt(faults, "contains"),
    }),
    textField({
      name: "language",
      label: labels.language,
      value: language,
      isOptional: true,
      max: 35,
      error: errorAt(faults, "language"),
    }),
  ];
  return filterForm(call.at("/phrases"), fields);
}

function rowsOf(found: Found, call: TenantCall): Html {
  const table =
    found.count === 0
      ? nothingFound(found, call)
      : dataTable({
          caption: caption(found, "phrase", "phrases", "by language and text"),
          columns: columnsFor(call),
          rows: found.rows,
        });
  return html`${table} ${pager(call.url, found)}`;
}

/**
 * A page of a search looks through a part of the dictionary only, so it may be empty although there
 * are more pages.
 */
function nothingFound({ nextPageToken, from }: Found, call: TenantCall): Html {
  const { contains, language } = asked(call);
  const { at } = call;
  const add = html`<a href="${at("/phrases/new")}">Add a phrase</a>`;
  if (nextPageToken !== "") {
    return emptyState(
      html`None of the 20,000 phrases that this page has looked through has “<bdi>${contains}</bdi>” in it.`,
      "There are more. Go on with Next, or search in one language.",
    );
  }
  if (from > 1) return emptyState("There are no more.");
  if (contains === "" && language === "") {
    const bring = html`<a href="${at("/phrases/import")}">import a file</a>`;
    return emptyState("The dictionary is empty.", html`${add}, or ${bring}.`);
  }
  const what = contains === "" ? "No phrase" : html`No phrase with “<bdi>${contains}</bdi>” in it`;
  return emptyState(html`${what} is here${language !== "" && html` in the language <code>${language}</code>`}.`, add);
}

function columnsFor({ at, now }: TenantCall): Column<StoredPhrase>[] {
  return [
    {
      label: "Phrase",
      cell: ({ id, phrase, forbidden, caseSensitive }) =>
        html`<a href="${at(`/phrases/${id}`)}" dir="auto">${phrase}</a> ${forbidden && state("bad", "forbidden")}
          ${caseSensitive && html`<small>case counts</small>`}`,
    },
    { label: "Language", cell: ({ language }) => html`<code class="whole">${language}</code>` },
    {
      label: "Mistakes",
      cell: ({ commonMistakes }) =>
        commonMistakes.map((mistake, index) => [index > 0 && ", ", html`<bdi>${mistake}</bdi>`]),
    },
    {
      label: "Description",
      cell: ({ description }) => description !== "" && html`<span dir="auto">${description}</span>`,
    },
    { label: "Changed", cell: ({ updatedAt }) => timeAgo(new Date(updatedAt), now) },
    {
      label: "Delete",
      isQuiet: true,
      cell: ({ id, phrase }) =>
        html`<a class="whole" href="${at(`/phrases/${id}/delete`)}" aria-label="Delete ${phrase}">Delete</a>`,
    },
  ];
}
