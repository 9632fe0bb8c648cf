// The administrator's view of the server, with its actions. It shows neither the contents of files nor
// their names.

import { html, signal, useEffect, useRef } from "./lib/core.js";
import { administer, overview, Refusal } from "./api.js";
import { ask, Dialog } from "./dialog.js";
import { count, instant, size } from "./format.js";
import { Icon } from "./icons.js";
import { attempt, dialog, personal, session, tell } from "./state.js";
import { word } from "./words.js";

/** Parts of the overview, and what is asked for each. */
const PARTS = ["tenants", "running", "links", "locks", "overview"];

const part = personal("tenants");
const found = personal(/** @type {any} */ (null));

/** Why nothing is shown to this person. */
const refused = personal(/** @type {Refusal|null} */ (null));

async function reload() {
  const name = part.value;
  const answer = await attempt(() => overview(name).catch((error) => {
    if (error.status !== 403) throw error;
    refused.value = error;
  }));
  if (answer && part.value === name) found.value = answer;
}

/** @param {string} name */
function show(name) {
  found.value = null;
  part.value = name;
  reload();
}

/** Does something, says what came of it, and shows what is so now. @param {string} what @param {object} given @param {string} done */
async function act(what, given, done) {
  if ((await attempt(() => administer(what, given))) !== undefined) tell(done);
  await reload();
}

/** Ends something that runs. It is gone a moment later than it was told to. @param {any} one */
async function stop(one) {
  await act("running/end", { id: one.id }, word("ended"));
  for (let looks = 0; looks < 20 && found.value?.running?.some((/** @type {any} */ other) => other.id === one.id); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    await reload();
  }
}

const when = (/** @type {string|null} */ moment) => (moment ? instant(moment) : "–");
const named = (/** @type {any} */ tenant) => tenant.name || tenant.id || tenant.directory;
const which = (/** @type {any} */ tenant) => ({ [tenant.kind]: tenant.id });

/** A button of a row; its label names the row, too. @param {{label: string, of: string, kind?: string, onClick: () => void}} given */
function Action({ label, of, kind = "", onClick }) {
  return html`<button class=${kind} aria-label=${`${label}: ${of}`} onClick=${onClick}>${label}</button>`;
}

/** @param {{label: string, head: string[], empty: string, rows: any[]}} given */
function Rows({ label, head, empty, rows }) {
  if (rows.length === 0) return html`<p role="status">${empty}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table>
    <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows}</tbody>
  </table></div>`;
}

async function suspend(/** @type {any} */ tenant) {
  const answer = await ask({
    title: word("suspend_question", named(tenant)), text: word("suspend_note"),
    answers: [{ value: "yes", label: word("suspend"), kind: "danger" }],
  });
  if (answer) await act("users/suspend", { user: tenant.id }, word("suspended_now", named(tenant)));
}

/** Asks how much somebody may have. @param {{tenant: any}} given */
function Quota({ tenant }) {
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  const set = (/** @type {number|null} */ quota) => {
    dialog.value = null;
    act("tenants/quota", { ...which(tenant), quota_mb: quota }, word("quota_set", named(tenant)));
  };
  return html`<${Dialog} title=${word("quota_of", named(tenant))} onSubmit=${() => set(Number(field.current?.value))}
      actions=${html`<button type="button" onClick=${() => set(null)}>${word("quota_usual")}</button>
        <button class="primary">${word("save")}</button>`}>
    <label>${word("quota_mb")}<input ref=${field} type="number" min="1" step="1" required defaultValue=${tenant.quota_mb} /></label>
  <//>`;
}

/** Removes somebody whose id is typed in. @param {{tenant: any}} given */
function Removal({ tenant }) {
  const typed = useRef(signal("")).current;
  const remove = () => {
    if (typed.value !== tenant.id) return;
    dialog.value = null;
    act("tenants/delete", { ...which(tenant), name: typed.value }, word("removed", named(tenant)));
  };
  return html`<${Dialog} title=${word("remove_question", named(tenant))} onSubmit=${remove}
      actions=${html`<button type="button" onClick=${() => (dialog.value = null)}>${word("cancel")}</button>
        <button class="danger" disabled=${typed.value !== tenant.id}>${word("delete")}</button>`}>
    <p>${word(tenant.kind === "group" ? "remove_group_note" : "remove_user_note", count(tenant.files))}</p>
    <label>${word("type_id", tenant.id)}<input autocomplete="off" spellcheck=${false} required
      onInput=${(/** @type {any} */ event) => (typed.value = event.target.value)} /></label>
  <//>`;
}

function Tenant({ tenant }) {
  const label = named(tenant);
  const percent = Math.round((100 * tenant.bytes) / (tenant.quota_mb * 1024 * 1024));
  return html`<tr>
    <th scope="row">${label}${tenant.name && html`<br /><small>${tenant.id}</small>`}</th>
    <td>${word(tenant.kind === "group" ? "group" : "user")}${tenant.suspended && html` · <strong>${word("suspended")}</strong>`}</td>
    <td>${size(tenant.bytes)} ${word("used_of")} ${size(tenant.quota_mb * 1024 * 1024)} (${percent} %)</td>
    <td>${count(tenant.files)}</td>
    <td>${when(tenant.last_call)}</td>
    <td>${tenant.tokens} · ${tenant.links} · ${tenant.locks}</td>
    <td class="actions">${tenant.id && html`
      <${Action} label=${word("quota")} of=${label} onClick=${() => (dialog.value = () => html`<${Quota} tenant=${tenant} />`)} />
      ${tenant.kind === "user" && (tenant.suspended
        ? html`<${Action} label=${word("end_suspension")} of=${label}
            onClick=${() => act("users/resume", { user: tenant.id }, word("resumed_now", label))} />`
        : html`<${Action} label=${word("suspend")} of=${label} onClick=${() => suspend(tenant)} />`)}
      <${Action} label=${word("delete")} of=${label} kind="danger"
        onClick=${() => (dialog.value = () => html`<${Removal} tenant=${tenant} />`)} />`}</td>
  </tr>`;
}

function Tenants({ tenants }) {
  const head = ["name", "kind", "space", "files", "last_call", "tokens_links_locks", "actions"].map((key) => word(key));
  return html`<${Rows} label=${word("admin_tenants")} head=${head} empty=${word("nothing_here")}
    rows=${tenants.map((/** @type {any} */ tenant) => html`<${Tenant} key=${tenant.directory} tenant=${tenant} />`)} />`;
}

function Running({ running }) {
  const head = ["program", "kind", "user", "since", "actions"].map((key) => word(key));
  return html`<${Rows} label=${word("admin_running")} head=${head} empty=${word("nothing_runs")}
    rows=${running.map((/** @type {any} */ one) => html`<tr key=${one.id}>
      <th scope="row">${one.program}</th><td>${word(`runs_${one.kind}`)}</td><td>${one.user ?? "–"}</td><td>${when(one.since)}</td>
      <td class="actions"><${Action} label=${word("end")} of=${`${one.program}, ${one.user ?? ""}`} kind="danger"
        onClick=${() => stop(one)} /></td>
    </tr>`)} />`;
}

/** Returns the zone to which a link leads or in which a lock is. @param {any} one */
const zone = (one) => (one.group ? `${word("group")} ${one.group}` : word(one.zone));

function AllLinks({ links }) {
  const head = ["purpose", "user", "place", "created", "ends", "actions"].map((key) => word(key));
  return html`<${Rows} label=${word("links")} head=${head} empty=${word("nothing_here")}
    rows=${links.map((/** @type {any} */ link) => html`<tr key=${link.id}>
      <th scope="row">${word(`purpose_${link.purpose}`)}${link.password && html` · ${word("with_password")}`}</th><td>${link.user ?? "–"}</td><td>${zone(link)}</td>
      <td>${when(link.created_at)}</td><td>${when(link.expires_at)}</td>
      <td class="actions"><${Action} label=${word("end")} of=${`${word(`purpose_${link.purpose}`)}, ${link.user ?? ""}`} kind="danger"
        onClick=${() => act("links/end", { id: link.id }, word("ended"))} /></td>
    </tr>`)} />`;
}

function Locks({ locks }) {
  const head = ["user", "kind", "place", "since", "ends", "actions"].map((key) => word(key));
  return html`<p>${word("locks_note")}</p>
    <${Rows} label=${word("admin_locks")} head=${head} empty=${word("nothing_here")}
    rows=${locks.map((/** @type {any} */ lock) => html`<tr key=${lock.id}>
      <th scope="row">${lock.user ?? "–"}</th><td>${word(`lock_${lock.kind}`)}</td><td>${zone(lock)}</td>
      <td>${when(lock.since)}</td><td>${when(lock.expires_at)}</td>
      <td class="actions"><${Action} label=${word("release")} of=${`${zone(lock)}, ${lock.user ?? ""}`} kind="danger"
        onClick=${() => act("locks/release", { id: lock.id }, word("released"))} /></td>
    </tr>`)} />`;
}

function Server({ version, since, checks, queues, errors, sandbox }) {
  const failures = Object.entries(errors).sort(([, one], [, other]) => Number(other) - Number(one));
  return html`<p>fileshed ${version} · ${word("since")} ${when(since)}</p>
    <h3>${word("admin_checks")}</h3>
    <${Rows} label=${word("admin_checks")} head=${[word("name"), word("state"), word("admin_says")]} empty=""
      rows=${checks.map((/** @type {any} */ check) => html`<tr key=${check.name}>
        <th scope="row">${check.name}</th><td>${word(`check_${check.state}`)}</td><td class="long">${check.text}</td></tr>`)} />
    <h3>${word("admin_sandbox")}</h3>
    <${Rows} label=${word("admin_sandbox")} head=${[word("name"), word("state")]} empty=""
      rows=${Object.entries(sandbox).map(([name, value]) => html`<tr key=${name}><th scope="row">${name}</th><td>${String(value)}</td></tr>`)} />
    <h3>${word("admin_queues")}</h3>
    <${Rows} label=${word("admin_queues")} head=${[word("name"), word("taken"), word("waiting"), word("places")]} empty=""
      rows=${queues.map((/** @type {any} */ queue) => html`<tr key=${queue.name}>
        <th scope="row">${queue.name}</th><td>${count(queue.taken)}</td><td>${count(queue.waiting)}</td><td>${count(queue.places)}</td></tr>`)} />
    <h3>${word("admin_errors")}</h3>
    <${Rows} label=${word("admin_errors")} head=${[word("name"), word("number")]} empty=${word("no_errors")}
      rows=${failures.map(([code, number]) => html`<tr key=${code}><th scope="row">${code}</th><td>${count(Number(number))}</td></tr>`)} />`;
}

const VIEWS = { tenants: Tenants, running: Running, links: AllLinks, locks: Locks, overview: Server };

/** The overview. */
export function Admin() {
  useEffect(() => {
    reload();
  }, []);
  if (refused.value) {
    const isShared = session.value.mode === "shared";
    return html`<div class="nothing" role="alert"><h2>${word("administration")}</h2>
      <p>${isShared ? word("admin_shared") : refused.value.message}</p>${!isShared && html`<p>${refused.value.hint}</p>`}</div>`;
  }
  const View = VIEWS[/** @type {keyof typeof VIEWS} */ (part.value)];
  return html`<div class="results admin">
    <h2>${word("administration")}</h2>
    <div class="tabs" role="group" aria-label=${word("administration")}>
      ${PARTS.map((name) => html`<button aria-pressed=${part.value === name} onClick=${() => show(name)}>
        ${word(name === "links" ? "links" : `admin_${name}`)}</button>`)}
      <button onClick=${reload}><${Icon} name="history" />${word("refresh")}</button>
    </div>
    ${found.value ? html`<${View} ...${found.value} />` : html`<p role="status">${word("loading")}</p>`}
  </div>`;
}
