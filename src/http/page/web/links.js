// Links for people without an account: made, copied, listed and ended.

import { html, useEffect, useRef, useState } from "./lib/core.js";
import { call, place, send } from "./api.js";
import { Dialog } from "./dialog.js";
import { count, duration, instant, join, size } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { attempt, dialog, location, personal, session, tell } from "./state.js";
import { word } from "./words.js";

/**
 * The whole address of a link of this server. A server that does not know its own gives a path, which
 * begins where this page does.
 *
 * @param {string} url
 */
function absolute(url) {
  return new URL(url.replace(/^\/+/, ""), document.baseURI).href;
}

/** @param {string} url */
export async function copy(url) {
  try {
    await navigator.clipboard.writeText(url);
    tell(word("copied"));
  } catch {
    // Without https the browser may refuse; the field can be copied by hand.
  }
}

/** @param {import("./state.js").Entry} entry */
export function openLink(entry) {
  const path = join(location.value.path, entry.name);
  return openLinkTo({ ...place(location.value), path }, `${word("link")}: ${entry.name}`);
}

export function openUploadLink() {
  const path = location.value.path || ".";
  return openLinkTo({ ...place(location.value), path, upload: true }, word("upload_link"));
}

/**
 * @param {any} target
 * @param {string} title
 */
async function openLinkTo(target, title) {
  const made = await attempt(() => call("shed_link_create", target));
  if (!made) return;
  const longest = Math.round((Date.parse(made.expires_at) - Date.now()) / HOUR);
  show({ ...made, downloads_max: made.downloads_left }, title, longest);
}

/** @param {any} link @param {string} title @param {number} [longest] hours that it may last, if it is new */
function show(link, title, longest) {
  dialog.value = () => html`<${LinkDialog} title=${title} first=${link} longest=${longest} />`;
}

const HOUR = 3_600_000;

// Hours after which a link may end, beside the longest time; and numbers of downloads.
const LIVES = [1, 24, 168, 720];
const DOWNLOADS = [1, 2, 5, 10, 100];

function LinkDialog({ title, first, longest }) {
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  const [link, setLink] = useState(first);
  // One after the other: with the keyboard a choice is made by passing others.
  const last = useRef(Promise.resolve(true));
  useEffect(() => field.current?.select(), []);
  // A password that was typed counts however the dialog is closed.
  useEffect(() => () => void sendPassword(), []);
  /** Changes terms of the link; `true` if it has them now. @param {object} terms @returns {Promise<boolean>} */
  function change(terms) {
    last.current = last.current.then(async () => {
      const changed = await attempt(() => send("link", { id: link.file_id, ...terms }));
      if (changed) setLink((before) => ({ ...before, ...changed }));
      if (links.value) await reloadLinks();
      return Boolean(changed);
    });
    return last.current;
  }
  // The password as it was typed, until the link has it.
  const unsent = useRef("");
  async function sendPassword() {
    const password = unsent.current;
    unsent.current = "";
    if (password && !(await change({ password }))) unsent.current ||= password;
    await last.current;
    return !unsent.current;
  }
  // Nobody gets a link that opens without the password that it was to have.
  const take = async () => (await sendPassword()) && copy(absolute(link.download_url));
  const ends = longest ? duration(longest) : instant(first.expires_at);
  const most = session.value.link_hours;
  const lives = LIVES.filter((life) => life < most).concat(longest ? [] : most);
  const limits = DOWNLOADS.includes(link.downloads_max) || !link.downloads_max ? DOWNLOADS : [link.downloads_max, ...DOWNLOADS];
  return html`<${Dialog} title=${title} actions=${html`<button type="button" class="primary" onClick=${take}>
      <${Icon} name="link" />${word("copy")}</button>`}>
    <label>${word("address")}<input ref=${field} readonly value=${absolute(link.download_url)} onFocus=${(/** @type {any} */ event) => event.target.select()} /></label>
    ${lives.length > 0 && html`<label>${word("ends_after")}<select onChange=${(/** @type {any} */ event) => event.target.value && change({ expires_hours: Number(event.target.value) })}>
      <option value=${longest ?? ""}>${ends}</option>
      ${lives.map((life) => html`<option key=${life} value=${life}>${duration(life)}</option>`)}
    </select></label>`}
    <label>${word(link.password ? "new_link_password" : "link_password")}<input maxlength="128" minlength="8" autocomplete="off" spellcheck=${false}
      placeholder=${word("link_password_hint")} onInput=${(/** @type {any} */ event) => (unsent.current = event.target.value)} onChange=${sendPassword} /></label>
    ${link.password && html`<button type="button" onClick=${() => change({ password: "" })}>${word("open_without_password")}</button>`}
    ${!link.upload && html`<label>${word("downloads")}<select value=${link.downloads_max ?? 0} onChange=${(/** @type {any} */ event) => change({ downloads: Number(event.target.value) })}>
      <option value="0">${word("any_number")}</option>
      ${limits.map((most) => html`<option key=${most} value=${most}>${count(most)}</option>`)}
    </select></label>`}
    <p role="status">${[word(link.password ? "link_note_password" : "link_note"), ...terms(link)].join(" ")}</p>
  <//>`;
}

/** The terms of a link in words. @param {any} link */
function terms(link) {
  const all = [`${word("ends")}: ${instant(link.expires_at)}.`];
  if (link.downloads_max) all.push(word("downloads_left", count(link.downloads_left), count(link.downloads_max)));
  return all;
}

/** `true` if the link leads into Open WebUI, where the file is for its user alone. @param {any} link */
function isInOpenWebui(link) {
  return !link.upload && !link.expires_at;
}

/** @param {any} link */
function facts(link) {
  const all = [];
  if (link.size_bytes !== undefined) all.push(size(link.size_bytes));
  if (link.upload) all.push(word("upload_link"));
  if (link.expires_at) all.push(`${word("ends")} ${instant(link.expires_at)}`);
  if (link.password) all.push(word("with_password"));
  if (link.downloads_max) all.push(word("downloads_left", count(link.downloads_left), count(link.downloads_max)));
  if (isInOpenWebui(link)) all.push(word("link_in_openwebui"));
  return all.join(" · ");
}

const links = personal(/** @type {any[]|null} */ (null));

async function reloadLinks() {
  const listed = await attempt(() => call("shed_link_list"));
  links.value = listed?.files ?? [];
}

/** @param {any} link */
async function end(link) {
  await attempt(() => call("shed_link_delete", { file_id: link.file_id }));
  await reloadLinks();
}

/** The list of all links. */
export function Links() {
  useEffect(() => {
    reloadLinks();
  }, []);
  return html`<div class="results">
    <h2>${word("links")}</h2>
    ${links.value?.length === 0 && html`<p class="nothing" role="status">${word("no_links")}</p>`}
    <ul>${links.value?.map((link) => html`<li key=${link.file_id} class="link-row">
      <${EntryIcon} entry=${{ name: link.filename, type: link.upload || link.size_bytes === undefined ? "directory" : "file" }} />
      <span class="about"><strong>${link.filename}</strong>
        <span class="place">${link.source_zone}/${link.source_path}</span><span>${facts(link)}</span></span>
      ${!isInOpenWebui(link) && html`<button aria-label=${`${word("copy")}: ${link.filename}`} onClick=${() => copy(absolute(link.download_url))}>${word("copy")}</button>
      <button aria-label=${`${word("change_link")}: ${link.filename}`} onClick=${() => show(link, `${word("change_link")}: ${link.filename}`)}>${word("change_link")}</button>`}
      <button class="danger" aria-label=${`${word("end_link")}: ${link.filename}`} onClick=${() => end(link)}>${word("end_link")}</button>
    </li>`)}</ul>
  </div>`;
}
