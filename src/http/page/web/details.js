// The facts of one file or folder.

import { html, useEffect, useState } from "./lib/core.js";
import { pathOf } from "./actions.js";
import { place, read } from "./api.js";
import { Dialog } from "./dialog.js";
import { count, instant, size } from "./format.js";
import { attempt, chatName, dialog, location } from "./state.js";
import { word } from "./words.js";

/** @typedef {{bytes: number, files?: number, links: number, last_change?: {at: string, author?: string}, locked_by: (string|null)[]}} Facts */

/** @param {import("./state.js").Entry} entry */
export function openDetails(entry) {
  dialog.value = () => html`<${Details} entry=${entry} />`;
}

/** @param {{entry: import("./state.js").Entry}} given */
function Details({ entry }) {
  const [facts, setFacts] = useState(/** @type {Facts|null} */ (null));
  useEffect(() => {
    attempt(async () => setFacts(await read("details", { ...place(location.value), path: pathOf(entry) })));
  }, []);
  const { zone, group, chat, path } = location.value;
  const where = [group ?? word(zone), chat && chatName(chat), path].filter(Boolean).join("/");
  const last = facts?.last_change;
  const by = last && (last.author ?? word("person_you"));
  /** @type {[string, any][]} */
  const rows = [
    ["place", where],
    ["size", facts && `${size(facts.bytes)}${facts.files === undefined ? "" : ` · ${count(facts.files)} ${word(facts.files === 1 ? "file_one" : "file_many")}`}`],
    ["modified", instant(entry.modified * 1000)],
    ["last_change", last && `${instant(last.at)} · ${by}`],
    ["owner", entry.own ? word("you") : entry.owner],
    ["rights", entry.mode && word(`mode_${entry.mode}`)],
    ["links", facts && count(facts.links)],
    ["locked_by", facts?.locked_by.map((name) => name ?? word("you")).join(", ")],
  ];
  return html`<${Dialog} title=${`${word("details")}: ${entry.name}`}>
    ${!facts && html`<p role="status">${word("loading")}</p>`}
    <dl class="facts">${rows.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${word(name)}</dt><dd>${value}</dd></div>`)}</dl>
  <//>`;
}
