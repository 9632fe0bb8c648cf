// The places at the left, and how much of them is used.

import { html } from "./lib/core.js";
import { dropInto } from "./drag.js";
import { size } from "./format.js";
import { Icon } from "./icons.js";
import { attempt, draftsOf, hash, leave, location, menuOpen, session, stats, zones } from "./state.js";
import { send } from "./api.js";
import { word } from "./words.js";

/** @param {{zone: string, group?: string, label: string}} given */
function Place({ zone, group, label }) {
  const here = location.value;
  const isHere = (!here.view || here.view === "chats") && here.zone === zone && here.group === group;
  return html`<li><a href=${hash({ zone, group, path: "" })} ...${zone === "uploads" ? {} : dropInto({ zone, group, path: "" })} aria-current=${isHere ? "page" : undefined}>
    <${Icon} name=${group ? "group" : `zone_${zone}`} /><span>${group ? label : word(label)}</span>
  </a></li>`;
}

/** @param {{used: any, label: string}} given */
function Quota({ used, label }) {
  const percent = Math.min(100, used.usage_percent);
  const limit = size(used.quota_mb * 1024 * 1024);
  return html`<div class="quota">
    <meter min="0" max="100" high="90" value=${percent} aria-label=${label}></meter>
    <span>${size(used.size_bytes)} ${word("used_of")} ${limit} ${word("used")}</span>
  </div>`;
}

function Usage() {
  if (!stats.value) return null;
  const { group } = location.value;
  const shared = stats.value.groups?.find((/** @type {any} */ one) => one.name === group);
  return html`<${Quota} used=${shared ?? stats.value.total} label=${group ?? word("used")} />`;
}

/** Drops unsaved texts that this browser keeps for the person who signs out. */
function forgetDrafts() {
  try {
    Object.keys(localStorage).filter((name) => name.startsWith(`${draftsOf()}#`)).forEach((name) => localStorage.removeItem(name));
  } catch {
    // A browser that keeps nothing has none.
  }
}

async function signOut() {
  const done = await attempt(() => send("sign-out", {}));
  if (done) forgetDrafts();
  await leave();
}

export function Sidebar() {
  const { own, shared } = zones.value;
  const person = session.value;
  return html`<nav class="sidebar ${menuOpen.value ? "open" : ""}" aria-label=${word("zones")} id="places">
    <a class="brand" href="#/documents"><span class="logo" aria-hidden="true"></span>fileshed</a>
    <ul>${own.map((zone) => html`<${Place} key=${zone.zone} ...${zone} />`)}</ul>
    ${shared.length > 0 && html`<h2>${word("groups")}</h2>
      <ul>${shared.map((zone) => html`<${Place} key=${zone.group} ...${zone} />`)}</ul>`}
    <div class="below">
      <ul>
        <li><a href="#/recent" aria-current=${location.value.view === "recent" ? "page" : undefined}>
          <${Icon} name="recent" /><span>${word("recent")}</span></a></li>
        <li><a href="#/changes" aria-current=${location.value.view === "changes" ? "page" : undefined}>
          <${Icon} name="history" /><span>${word("changes")}</span></a></li>
        ${stats.value?.bin && html`<li><a href="#/bin" aria-current=${location.value.view === "bin" ? "page" : undefined}>
          <${Icon} name="delete" /><span>${word("bin")}</span></a></li>`}
        <li><a href="#/links" aria-current=${location.value.view === "links" ? "page" : undefined}>
          <${Icon} name="link" /><span>${word("links")}</span></a></li>
        ${person.mode === "user" && html`<li><a href="#/tokens" aria-current=${location.value.view === "tokens" ? "page" : undefined}>
          <${Icon} name="rights" /><span>${word("tokens")}</span></a></li>`}
        ${(person.role === "admin" || person.role_lapsed) && html`<li><a href=${person.role_lapsed ? "page/oidc" : "#/admin"} aria-current=${location.value.view === "admin" ? "page" : undefined}>
          <${Icon} name="group" /><span>${word("administration")}</span></a></li>`}
      </ul>
      <${Usage} />
      <p class="person">
        ${person.name && html`<span>${person.name}</span>`}
        ${person.mode === "user" && html`<button class="text" onClick=${signOut}>${word("sign_out")}</button>`}
        <a href="docs/">${word("api")}</a>
      </p>
    </div>
  </nav>`;
}
