// Members of a group, and whose its files are.

import { html } from "./lib/core.js";
import { call } from "./api.js";
import { close, Dialog } from "./dialog.js";
import { join, size } from "./format.js";
import { attempt, dialog, location, personal, reload } from "./state.js";
import { word } from "./words.js";

const MODES = ["group", "owner", "owner_ro"];
const info = personal(/** @type {any} */ (null));

/** @param {string} group */
async function load(group) {
  info.value = null;
  info.value = (await attempt(() => call("shed_group_info", { group }))) ?? null;
}

/** @param {string} group */
export function openMembers(group) {
  load(group);
  dialog.value = () => html`<${Members} group=${group} />`;
}

function Members({ group }) {
  const found = info.value;
  return html`<${Dialog} title=${group} wide>
    ${!found && html`<p role="status">${word("loading")}</p>`}
    ${found && html`
      <ul class="people" aria-label=${word("people")}>${found.members.map((/** @type {any} */ member) => html`<li>${member.name ?? member.id}</li>`)}</ul>
      <p>${size(found.total_size)} ${word("used_of")} ${size(found.quota_mb * 1024 * 1024)} ${word("used")}</p>
      <div class="scroll" tabindex="0" role="region" aria-label=${word("files")}><table>
        <thead><tr>${["name", "owner", "size"].map((name) => html`<th scope="col">${word(name)}</th>`)}</tr></thead>
        <tbody>${found.files.map((/** @type {any} */ file) => html`<tr key=${file.path}><td>${file.path}</td>
          <td>${file.owner ?? ""}<br /><small>${word(`mode_${file.mode}`)}</small></td><td>${size(file.size)}</td></tr>`)}</tbody>
      </table></div>`}
  <//>`;
}

/** @param {import("./state.js").Entry} entry */
export function openRights(entry) {
  const group = location.value.group ?? "";
  load(group);
  dialog.value = () => html`<${Rights} group=${group} path=${join(location.value.path, entry.name)} mode=${entry.mode} />`;
}

function Rights({ group, path, mode }) {
  const submit = async (/** @type {SubmitEvent} */ event) => {
    const given = new FormData(/** @type {HTMLFormElement} */ (event.target));
    await attempt(async () => {
      if (given.get("mode") !== mode) await call("shed_group_set_mode", { group, path, mode: given.get("mode") });
      if (given.get("owner")) await call("shed_group_chown", { group, path, new_owner: given.get("owner") });
      close();
    });
    await reload();
  };
  return html`<${Dialog} title=${`${word("rights")}: ${path}`} onSubmit=${submit}
      actions=${html`<button type="button" onClick=${close}>${word("cancel")}</button><button class="primary">${word("save")}</button>`}>
    <fieldset><legend>${word("rights")}</legend>
      ${MODES.map((one) => html`<label class="choice"><input type="radio" name="mode" value=${one} defaultChecked=${one === mode} />${word(`mode_${one}`)}</label>`)}
    </fieldset>
    <label>${word("new_owner")}<select name="owner"><option value="">–</option>
      ${(info.value?.members ?? []).map((/** @type {any} */ member) => html`<option value=${member.id}>${member.name ?? member.id}</option>`)}
    </select></label>
  <//>`;
}
