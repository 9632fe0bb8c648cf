// The bin: deleted entries that can be brought back.

import { html, useEffect } from "./lib/core.js";
import { undoOf } from "./actions.js";
import { acting, read, send } from "./api.js";
import { ask } from "./dialog.js";
import { base, byDay, clock, day, parent, size } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { attempt, personal, refreshStats, tell } from "./state.js";
import { word } from "./words.js";

/** @typedef {{id: string, zone: string, path: string, type: string, size: number, replaced?: boolean, title?: string, deleted_at: string, ends_at: string}} Deleted */

const bin = personal(/** @type {{days: number, entries: Deleted[]}|null} */ (null));
/** Ids of what is chosen. */
const chosen = personal(/** @type {Set<string>} */ (new Set()));

async function reloadBin() {
  bin.value = (await attempt(() => read("bin"))) ?? bin.value;
  const there = new Set(bin.value?.entries.map(({ id }) => id));
  chosen.value = new Set([...chosen.value].filter((id) => there.has(id)));
  refreshStats();
}

/** Returns the name of these entries in a sentence. @param {Deleted[]} entries */
const named = (entries) => (entries.length === 1 ? `“${base(entries[0].path)}”` : `${entries.length} ${word("items")}`);

/** Does something with each; what fails is told, and the others go on. @param {Deleted[]} entries @param {string} what @param {string} [action] */
async function each(entries, what, action) {
  const done = [];
  for (const entry of entries) {
    if (await attempt(() => send(`bin/${what}?id=${entry.id}`, {}, action))) done.push(entry);
  }
  await reloadBin();
  return done;
}

/** @param {Deleted[]} entries */
async function bringBack(entries) {
  const acted = acting({});
  const back = await each(entries, "restore", acted.action);
  const text = word(back.length === 1 ? "brought_back" : "brought_back_many", named(back));
  if (back.length > 0) tell(text, { action: undoOf(acted, true, reloadBin) });
}

/** @param {Deleted[]|undefined} entries everything, without any */
async function remove(entries) {
  const label = word(entries ? "delete_for_good" : "empty_bin");
  const answer = await ask({
    title: entries ? word("delete_question", named(entries)) : `${label}?`,
    text: word("delete_final"),
    answers: [{ value: "delete", label, kind: "danger" }],
  });
  if (!answer) return;
  if (entries) return each(entries, "remove");
  await attempt(() => send("bin/remove", {}));
  await reloadBin();
}

/** Chooses all of these, or none if all of them are. @param {Deleted[]} entries */
function turn(entries) {
  const ids = entries.map(({ id }) => id);
  const isAll = ids.every((id) => chosen.value.has(id));
  const others = [...chosen.value].filter((id) => !ids.includes(id));
  chosen.value = new Set(isAll ? others : [...others, ...ids]);
}

/** @param {{label: string, entries: Deleted[]}} given */
function Tick({ label, entries }) {
  const isChosen = entries.every(({ id }) => chosen.value.has(id));
  return html`<button class="box" role="checkbox" aria-checked=${isChosen} aria-label=${`${word("select")} ${label}`}
    onClick=${() => turn(entries)}><${Icon} name="check" size=${16} /></button>`;
}

/** @param {{entry: Deleted}} given */
function Row({ entry }) {
  const name = base(entry.path);
  const above = parent(entry.path);
  const facts = [above ? `${word(entry.zone)}/${above}` : word(entry.zone), size(entry.size),
    `${word(entry.replaced ? "replaced_at" : "deleted_at")} ${clock(entry.deleted_at)}${entry.title ? ` ${word("in_chat", entry.title)}` : ""}`,
    `${word("ends")} ${day(entry.ends_at)}`];
  return html`<li class="link-row">
    <${Tick} label=${name} entries=${[entry]} />
    <${EntryIcon} entry=${{ name, type: entry.type }} />
    <span class="about"><strong>${name}</strong><span>${facts.join(" · ")}</span></span>
    <button aria-label=${`${word("bring_back")}: ${name}`} onClick=${() => bringBack([entry])}>${word("bring_back")}</button>
    <button class="danger" aria-label=${`${word("delete_for_good")}: ${name}`} onClick=${() => remove([entry])}>${word("delete_for_good")}</button>
  </li>`;
}

/** @param {{entries: Deleted[]}} given of the whole bin */
function Days({ entries }) {
  const some = entries.filter(({ id }) => chosen.value.has(id));
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "a" && (event.ctrlKey || event.metaKey)) chosen.value = new Set(entries.map(({ id }) => id));
    else if (event.key === "Escape") chosen.value = new Set();
    else if (event.key === "Delete" && some.length > 0) remove(some);
    else return;
    event.preventDefault();
  };
  const buttons = some.length === 0
    ? html`<button class="danger" onClick=${() => remove(undefined)}>${word("empty_bin")}</button>`
    : html`<div class="selection" role="toolbar" aria-label=${word("selected")}>
        <span class="chosen">${some.length} ${word("selected")}</span>
        <button class="quiet" onClick=${() => bringBack(some)}>${word("bring_back")}</button>
        <button class="quiet danger" onClick=${() => remove(some)}>${word("delete_for_good")}</button>
        <button class="quiet" aria-label=${word("clear")} onClick=${() => (chosen.value = new Set())}><${Icon} name="close" size=${16} /></button>
      </div>`;
  return html`<div onKeyDown=${press}>
    <div class="deeds">${buttons}</div>
    ${byDay(entries, (entry) => entry.deleted_at).map(([title, some]) => html`<section key=${title} aria-label=${title}>
      <h3 class="day"><${Tick} label=${title} entries=${some} />${title}</h3>
      <ul>${some.map((entry) => html`<${Row} key=${entry.id} entry=${entry} />`)}</ul>
    </section>`)}
  </div>`;
}

/** The list of what was deleted, by day. */
export function Bin() {
  useEffect(() => {
    reloadBin();
  }, []);
  const listed = bin.value;
  return html`<div class="results">
    <h2>${word("bin")}</h2>
    ${listed && listed.days > 0 && html`<p>${word("bin_note", listed.days)}</p>`}
    ${listed && listed.entries.length > 0 && html`<${Days} entries=${listed.entries} />`}
    ${listed?.entries.length === 0 && html`<p class="nothing" role="status">${word("bin_empty")}</p>`}
  </div>`;
}
