// List of changes, by the answer or the action that made them, and their undo.

import { html, useEffect, useState } from "./lib/core.js";
import { showHistory, undo } from "./actions.js";
import { query, read } from "./api.js";
import { base, byDay, clock, count, parent } from "./format.js";
import { later } from "./later.js";
import { attempt, hash, NO_CHAT, personal, refreshStats } from "./state.js";
import { word } from "./words.js";

/** @typedef {{path: string, did: "created"|"changed"|"deleted"|"moved", is_undone: boolean}} Step */
/** @typedef {{number: number, zone: string, group?: string, operation: string, count: number, files: Step[], is_undone: boolean, has_history: boolean}} Change */
/** @typedef {{answer: string, at: string, by: "model"|"person"|"undo", author?: string, chat?: string, title?: string, count: number, is_undone: boolean, changes: Change[]}} Answer */

const Difference = later(() => import("./difference.js"), "Difference");

const answers = personal(/** @type {Answer[]|null} */ (null));
const next = personal(/** @type {number|undefined} */ (undefined));

/** @param {Record<string, string>} query which of all */
async function more(query) {
  const found = await attempt(() => read("changes", query));
  if (!found) return;
  const before = query.before ? [...answers.value ?? []] : [];
  for (const one of found.answers) {
    const at = before.findIndex(({ answer }) => answer === one.answer);
    // An answer of many changes may go on in the next part of the list.
    if (at < 0) before.push(one);
    else before[at] = { ...one, ...before[at], count: before[at].count + one.count, changes: [...before[at].changes, ...one.changes] };
  }
  answers.value = before;
  next.value = found.next;
}

/** Shows what there is after an undo. @param {Record<string, string>} shown */
async function again(shown) {
  await more(shown);
  refreshStats();
}

/** Returns the name of the author. @param {Answer} answer */
function who({ by, author }) {
  if (by === "undo") return word("undo");
  if (by === "person") return author ?? word("person_you");
  return author ? word("assistant_of", author) : word("assistant");
}

/** Returns how many files changed. @param {{count: number}} given */
const filesOf = (given) => (given.count === 1 ? word("change_one") : word("change_many", count(given.count)));

/** @param {{change: Change, chat?: string, step: Step, shown: Record<string, string>}} given */
function Path({ change, chat, step, shown: list }) {
  const [isOpen, open] = useState(false);
  const { zone, group, has_history } = change;
  const at = zone === "uploads" ? { zone, chat: chat ?? NO_CHAT } : { zone, group };
  const shown = `${group ?? word(zone)}/${step.path}`;
  const to = hash({ ...at, path: parent(step.path), open: base(step.path) });
  const button = (/** @type {string} */ action, /** @type {() => any} */ run, /** @type {boolean} */ expanded) => html`<button class="text"
    aria-label=${`${word(action)}: ${step.path}`} aria-expanded=${expanded} onClick=${run}>${word(action)}</button>`;
  return html`<li>
    <div class="step">
      <span class="change-path">${step.did === "deleted" ? shown : html`<a href=${to}>${shown}</a>`}</span>
      <span class="did did-${step.did}">${word(`did_${step.did}`)}</span>
      ${step.did !== "moved" && button("difference", () => open(!isOpen), isOpen)}
      ${has_history && button("history", () => showHistory(step.path, at))}
      ${step.is_undone && !change.is_undone && html`<span class="did">${word("undone")}</span>`}
      ${change.count > 1 && !step.is_undone && button("undo", () => undo(query(at, { change: change.number, path: step.path }), () => again(list)))}
    </div>
    ${isOpen && html`<${Difference} zone=${at} path=${step.path} of=${{ change: change.number }} />`}
  </li>`;
}

/** @param {{isUndone: boolean, which: string, label: string, shown: Record<string, string>}} given */
function Undo({ isUndone, which, label, shown }) {
  if (isUndone) return html`<span class="did">${word("undone")}</span>`;
  return html`<button aria-label=${`${word("undo")}: ${label}`} onClick=${() => undo(which, () => again(shown))}>${word("undo")}</button>`;
}

/** @param {{answer: Answer, shown: Record<string, string>, isOpen: boolean}} given */
function AnswerRow({ answer, shown, isOpen }) {
  const label = `${who(answer)}, ${clock(answer.at)}: ${filesOf(answer)}`;
  const isOne = answer.changes.length === 1;
  // Changes of others are undone one at a time.
  const which = isOne ? `change=${answer.changes[0].number}` : `answer=${encodeURIComponent(answer.answer)}`;
  return html`<li class="answer">
    <details open=${isOpen}>
      <summary><strong>${label}</strong>${answer.title && html`<span>${word("in_chat", answer.title)}</span>`}</summary>
      ${answer.changes.map((change) => html`<div class="change-of" key=${change.number}>
        <ul aria-label=${change.operation}>
          ${change.files.map((step, at) => html`<${Path} key=${at} change=${change} chat=${answer.chat} step=${step} shown=${shown} />`)}
          ${change.count > change.files.length && html`<li>${word("more_files", count(change.count - change.files.length))}</li>`}
        </ul>
        ${!isOne && html`<${Undo} isUndone=${change.is_undone} which=${`change=${change.number}`} label=${change.count === 1 ? base(change.files[0]?.path ?? change.operation) : filesOf(change)} shown=${shown} />`}
      </div>`)}
    </details>
    ${(isOne || !answer.author) && html`<${Undo} isUndone=${answer.is_undone} which=${which} label=${label} shown=${shown} />`}
  </li>`;
}

/** The list of changes by answer and by day, or one answer. @param {{answer?: string}} given */
export function Changes({ answer }) {
  /** @type {Record<string, string>} */
  const shown = answer ? { answer } : {};
  useEffect(() => {
    more(shown);
  }, []);
  const listed = answers.value;
  return html`<div class="results">
    <h2>${word("changes")}</h2>
    <p>${word("changes_note")}</p>
    ${answer && html`<p><a href="#/changes">${word("all_changes")}</a></p>`}
    ${!listed && html`<p role="status" class="nothing"><span class="spinner" aria-hidden="true"></span>${word("loading")}</p>`}
    ${listed?.length === 0 && html`<p class="nothing" role="status">${word("no_changes")}</p>`}
    ${byDay(listed ?? [], ({ at }) => at).map(([title, some]) => html`<section key=${title} aria-label=${title}>
      <h3 class="day">${title}</h3>
      <ul>${some.map((one) => html`<${AnswerRow} key=${one.answer} answer=${one} shown=${shown} isOpen=${Boolean(answer)} />`)}</ul>
    </section>`)}
    ${next.value !== undefined && html`<p><button onClick=${() => more({ ...shown, before: String(next.value) })}>${word("show_more")}</button></p>`}
  </div>`;
}
