// Target of a move or copy: a zone and a folder in it.

import { html, useEffect } from "./lib/core.js";
import { place, read } from "./api.js";
import { close, Dialog } from "./dialog.js";
import { join, parent } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { attempt, compare, dialog, isSameZone, location, personal, zones } from "./state.js";
import { word } from "./words.js";

/** @typedef {{zone: string, group?: string, path: string, copies: boolean}} Target */


/** @param {import("./state.js").Entry[]} chosen @returns {Promise<Target|null>} */
export function openTarget(chosen) {
  const from = location.value;
  return new Promise((resolve) => {
    const end = (/** @type {Target|null} */ target) => {
      close();
      resolve(target);
    };
    dialog.value = () => html`<${TargetDialog} from=${from} chosen=${chosen} end=${end} />`;
  });
}

const at = personal(/** @type {any} */ (null));
const folders = personal(/** @type {string[]} */ ([]));

async function show(/** @type {any} */ to) {
  at.value = to;
  const found = await attempt(() => read("list", { ...place(to), path: to.path || "." }));
  if (at.value !== to) return;
  const entries = found?.entries ?? [];
  const inside = entries.filter((/** @type {any} */ entry) => entry.type === "directory");
  folders.value = inside.map((/** @type {any} */ entry) => entry.name).sort(compare);
}

function TargetDialog({ from, chosen, end }) {
  const all = [...zones.value.own, ...zones.value.shared];
  const reachable = all.filter(({ zone }) => zone !== "uploads");
  useEffect(() => {
    const first = from.zone !== "uploads" ? from : { ...reachable[0], path: "" };
    show({ zone: first.zone, group: first.group, path: first.path });
  }, []);
  if (!at.value) return null;
  const here = at.value;
  const isSame = isSameZone(here, from);
  const isInside = isSame && chosen.some((entry) => `${here.path}/`.startsWith(`${join(from.path, entry.name)}/`));
  const isHere = isSame && here.path === from.path;
  const mayMove = chosen.every((entry) => entry.writable) || from.zone === "uploads";
  const offered = isInside || isHere ? [] : mayMove ? ["move", "copy"] : ["copy"];
  const choose = (/** @type {string} */ way) => end({ ...here, copies: way === "copy" });
  const title = `${word("move_or_copy")}: ${chosen.length === 1 ? chosen[0].name : `${chosen.length} ${word("items")}`}`;
  return html`<${Dialog} title=${title} onClose=${() => end(null)}
      actions=${html`<button type="button" onClick=${() => end(null)}>${word("cancel")}</button>
        ${["copy", "move"].map((way) => html`<button type="button" class=${way === "move" || offered.length === 1 ? "primary" : ""}
          hidden=${!offered.includes(way)} onClick=${() => choose(way)}>${word(`${way}_here`)}</button>`)}`}>
    <div class="tabs" role="group" aria-label=${word("zones")}>
      ${reachable.map((zone) => html`<button type="button" aria-pressed=${zone.zone === here.zone && zone.group === here.group}
        onClick=${() => show({ zone: zone.zone, group: zone.group, path: "" })}>${zone.group ?? word(zone.label)}</button>`)}
    </div>
    <p class="where">${here.path ? html`<button type="button" class="quiet" aria-label=${word("up")}
      onClick=${() => show({ ...here, path: parent(here.path) })}><${Icon} name="up" /></button>` : ""}
      <span>/${here.path}</span></p>
    <ul class="folders">
      ${folders.value.map((name) => html`<li><button type="button" onClick=${() => show({ ...here, path: join(here.path, name) })}>
        <${EntryIcon} entry=${{ name, type: "directory" }} size=${22} />${name}</button></li>`)}
    </ul>
  <//>`;
}
