// The list of a directory. Only the rows that can be seen are in the page, so its length does not
// matter.

import { html, signal, useEffect, useLayoutEffect, useRef, useState } from "./lib/core.js";
import { actionsFor, open, openMenu, pathOf, remove, rename, showKeys, take } from "./actions.js";
import { thumbnailAddress, address } from "./api.js";
import { dragOf, dropInto } from "./drag.js";
import { date, extension, instant, join, parent, size } from "./format.js";
import { EntryIcon, Icon } from "./icons.js";
import { openMenuOf } from "./menu.js";
import { cursor, entries, failure, go, listing, loading, location, look, reload, selected, selection } from "./state.js";
import { word } from "./words.js";

/** Rows above and below what can be seen. */
const MARGIN = 6;

const top = signal(0);
const height = signal(0);
const rowHeight = signal(48);
/** Entries beside each other: one, or as many tiles as there is room for. */
const perRow = signal(1);

/** Returns the distance of an entry from the top of the list. @param {number} index */
const topOf = (index) => Math.floor(index / perRow.value) * rowHeight.value;

/** First entry of a range that is selected. */
let anchor = 0;

/** @param {number} index @param {{toggle?: boolean, range?: boolean}} how */
function select(index, { toggle = false, range = false }) {
  const name = entries.value[index]?.name;
  if (name === undefined) return;
  cursor.value = index;
  if (range) {
    const [first, last] = [Math.min(anchor, index), Math.max(anchor, index)];
    selection.value = new Set(entries.value.slice(first, last + 1).map((entry) => entry.name));
    return;
  }
  anchor = index;
  const names = new Set(toggle ? selection.value : []);
  if (toggle && names.has(name)) names.delete(name);
  else names.add(name);
  selection.value = names;
}

export function selectAll() {
  const all = entries.value.map((entry) => entry.name);
  selection.value = new Set(selection.value.size === all.length ? [] : all);
}

/** Keys typed lately, to jump to a name. */
let typed = "";
let typedAt = 0;

/** @param {string} key @param {number} now */
function jump(key, now) {
  typed = now - typedAt < 800 ? typed + key : key;
  typedAt = now;
  const start = typed.toLowerCase();
  const found = entries.value.findIndex((entry) => entry.name.toLowerCase().startsWith(start));
  if (found >= 0) select(found, {});
}

/** @param {KeyboardEvent} event */
function press(event) {
  const last = entries.value.length - 1;
  const line = perRow.value;
  const page = line * Math.max(1, Math.floor(height.value / rowHeight.value) - 1);
  const entry = entries.value[cursor.value];
  const chosen = selected.value.length > 0 ? selected.value : [entry].filter(Boolean);
  const sideways = line > 1 ? { ArrowLeft: -1, ArrowRight: 1 } : {};
  const steps = { ...sideways, ArrowDown: line, ArrowUp: -line, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  const isCommand = event.ctrlKey || event.metaKey;
  const step = steps[/** @type {keyof typeof steps} */ (event.key)];
  if (step !== undefined) {
    const to = Math.max(0, Math.min(last, cursor.value + step));
    // The first key only shows where one is.
    const begins = selection.value.size === 0 && cursor.value === 0 && event.key.startsWith("Arrow") && step > 0;
    if (event.ctrlKey) cursor.value = to;
    else select(begins ? 0 : to, { range: event.shiftKey });
  } else if (event.key === "Enter" && entry) open(entry);
  else if (event.key === " " && entry) select(cursor.value, { toggle: true });
  else if (event.key === "a" && isCommand) selectAll();
  else if (event.key === "c" && isCommand && chosen.length) take(chosen, true);
  else if (event.key === "x" && isCommand && may(chosen, "cut")) take(chosen, false);
  else if (event.key === "Escape") selection.value = new Set();
  else if (event.key === "Delete" && may(chosen, "delete")) remove(chosen);
  else if (event.key === "F2" && may(chosen, "rename")) rename(chosen[0]);
  else if ((event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) && entry) showMenu(chosen);
  else if (event.key === "?") showKeys();
  else if (event.key === "Backspace" && location.value.path) go({ path: parent(location.value.path) });
  else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) jump(event.key, event.timeStamp);
  else return;
  event.preventDefault();
}

/** @param {import("./state.js").Entry[]} chosen @param {string} id */
function may(chosen, id) {
  return chosen.length > 0 && actionsFor(chosen).some((action) => action.id === id);
}

/** Shows what can be done with entries below the one that the keyboard is on. @param {import("./state.js").Entry[]} chosen */
function showMenu(chosen) {
  const box = document.getElementById(`row-${cursor.value}`)?.getBoundingClientRect();
  if (box) openMenuOf(new MouseEvent("contextmenu", { clientX: box.left + 60, clientY: box.bottom }), actionsFor(chosen));
}

/** @param {{by: string, label: string}} given */
function Heading({ by, label }) {
  const { by: chosen, falls } = look.value;
  const isChosen = by === chosen;
  const turn = () => (look.value = { ...look.value, by, falls: isChosen ? !falls : false });
  return html`<div role="columnheader" class="cell cell-${by}" aria-sort=${isChosen ? (falls ? "descending" : "ascending") : "none"}>
    <button class="text" onClick=${turn} tabindex="0">${label}${isChosen && html`<${Icon} name=${falls ? "sort_down" : "sort_up"} size=${16} />`}</button>
  </div>`;
}

/** Pictures that show themselves on a tile, up to so many bytes. */
const PICTURES = ["png", "jpg", "jpeg", "gif", "webp", "avif", "svg"];
const PICTURE_MAX = 512 * 1024;
/** Those of which the server makes small ones, and up to how many bytes. */
const LARGE = ["png", "jpg", "jpeg", "gif", "webp"];
const LARGE_MAX = 32 * 1024 * 1024;

/** The picture of an entry on a tile: what it shows itself, or a small one of it. @param {{entry: import("./state.js").Entry}} given */
function Tile({ entry }) {
  const [isBroken, setBroken] = useState(false);
  const end = extension(entry.name);
  const isLarge = entry.size > PICTURE_MAX;
  const isPicture = isLarge ? LARGE.includes(end) && entry.size <= LARGE_MAX : PICTURES.includes(end);
  if (isBroken || entry.type === "directory" || !isPicture) {
    return html`<span class="tile"><${EntryIcon} entry=${entry} size=${64} /></span>`;
  }
  const source = isLarge ? thumbnailAddress(location.value, pathOf(entry)) : address(location.value, pathOf(entry), true);
  return html`<span class="tile"><img class=${end === "svg" ? "whole" : ""} src=${source} alt="" loading="lazy" draggable=${false} onError=${() => setBroken(true)} /></span>`;
}

/** @param {{entry: import("./state.js").Entry, index: number, hasOwners: boolean}} given */
function Row({ entry, index, hasOwners }) {
  const isSelected = selection.value.has(entry.name);
  const isFolder = entry.type === "directory";
  const click = (/** @type {MouseEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const coarse = matchMedia("(pointer: coarse)").matches;
    if (target.closest(".cell-tick")) return select(index, { toggle: true, range: event.shiftKey });
    if (target.closest(".row-menu")) {
      if (!isSelected) select(index, {});
      return openMenu(event, isSelected ? selected.value : [entry]);
    }
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      return select(index, { toggle: event.ctrlKey || event.metaKey, range: event.shiftKey });
    }
    if (target.closest(".entry-name") || coarse) {
      cursor.value = index;
      return open(entry);
    }
    select(index, {});
  };
  const menu = (/** @type {MouseEvent} */ event) => {
    if (!isSelected) select(index, {});
    openMenu(event, isSelected ? selected.value : [entry]);
  };
  const { zone, group, chat, path } = location.value;
  const share = 100 / perRow.value;
  const place = { top: `${topOf(index)}px`, left: `${(index % perRow.value) * share}%`, width: `${share}%` };
  return html`<div role="row" id=${`row-${index}`} class="row ${isSelected ? "selected" : ""} ${cursor.value === index ? "cursor" : ""}"
      aria-rowindex=${index + 2} aria-selected=${isSelected} style=${place}
      ...${dragOf(entry)} ...${isFolder ? dropInto({ zone, group, chat, path: join(path, entry.name) }, listing.value.writable) : {}}
      onClick=${click} onDblClick=${() => open(entry)} onContextMenu=${menu}>
    <div role="gridcell" class="cell cell-tick"><button class="box" role="checkbox" tabindex="-1" aria-checked=${isSelected}
      aria-label=${`${word("select")} ${entry.name}`}><${Icon} name="check" size=${16} /></button></div>
    <div role="gridcell" class="cell cell-name">${look.value.tiles ? html`<${Tile} key=${entry.modified} entry=${entry} />` : html`<${EntryIcon} entry=${entry} />`}<span class="entry-name" title=${entry.name}>${entry.name}</span>
      ${!entry.writable && location.value.zone === "group" && !isFolder && html`<span class="read-only" title=${word("read_only")}><${Icon} name="lock" size=${15} /></span>`}
      <span class="small">${isFolder ? "" : `${size(entry.size)} · `}${date(entry.modified)}</span></div>
    ${hasOwners && html`<div role="gridcell" class="cell cell-owner">${entry.own ? word("you") : entry.owner ?? ""}</div>`}
    <div role="gridcell" class="cell cell-size">${isFolder ? "" : size(entry.size)}</div>
    <div role="gridcell" class="cell cell-modified" title=${instant(entry.modified * 1000)}>${date(entry.modified)}</div>
    <div role="gridcell" class="cell cell-last"><button class="quiet row-menu" tabindex="-1" aria-label=${`${word("more")}: ${entry.name}`}><${Icon} name="more" /></button></div>
  </div>`;
}

function Nothing() {
  if (failure.value) {
    return html`<div class="nothing" role="alert"><p>${failure.value.message}</p>
      <p class="hint">${failure.value.hint}</p>
      <button onClick=${() => reload(false)}>${word("retry")}</button></div>`;
  }
  if (loading.value) return html`<div class="nothing" role="status"><span class="spinner" aria-hidden="true"></span>${word("loading")}</div>`;
  const isUploads = location.value.zone === "uploads";
  return html`<div class="nothing"><span class="empty-picture" aria-hidden="true"><${EntryIcon} entry=${{ name: "", type: "directory" }} size=${72} /></span>
    <h2>${word("empty")}</h2><p>${word(isUploads ? "empty_read" : "empty_note")}</p></div>`;
}

export function List() {
  const scroller = useRef(/** @type {HTMLElement|null} */ (null));
  const all = entries.value;
  const hasOwners = location.value.zone === "group";
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (scroller.current);
    const measure = () => {
      height.value = element.clientHeight;
      const style = getComputedStyle(element);
      rowHeight.value = parseFloat(style.getPropertyValue("--row"));
      const width = parseFloat(style.getPropertyValue("--tile"));
      perRow.value = width ? Math.max(1, Math.floor(element.clientWidth / width)) : 1;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [look.value.tiles]);
  const { zone, group, chat, path } = location.value;
  const isFirst = useRef(true);
  useEffect(() => {
    scroller.current?.scrollTo(0, 0);
    // The list gets the focus, so that the keyboard works in it; not on a page that has just opened.
    if (!isFirst.current && document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [zone, group, chat, path]);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (scroller.current);
    const place = topOf(cursor.value);
    const head = rowHeight.value;
    if (place < element.scrollTop) element.scrollTop = place;
    else if (place + rowHeight.value + head > element.scrollTop + element.clientHeight) {
      element.scrollTop = place + rowHeight.value + head - element.clientHeight;
    }
  }, [cursor.value]);
  const first = Math.max(0, Math.floor(top.value / rowHeight.value) - MARGIN) * perRow.value;
  const last = Math.min(all.length, (Math.ceil((top.value + height.value) / rowHeight.value) + MARGIN) * perRow.value);
  const isAll = all.length > 0 && selection.value.size === all.length;
  const active = all.length > 0 && cursor.value >= first && cursor.value < last ? `row-${cursor.value}` : undefined;
  return html`<div class="list ${hasOwners ? "with-owners" : ""} ${look.value.tiles ? "tiles" : ""}" ref=${scroller} role="grid" tabindex="0" aria-multiselectable="true"
      aria-label=${word("files")} aria-rowcount=${all.length + 1} aria-activedescendant=${active}
      onScroll=${(/** @type {Event} */ event) => (top.value = /** @type {HTMLElement} */ (event.target).scrollTop)} onKeyDown=${press}>
    <div role="rowgroup" class="head"><div role="row" class="row" aria-rowindex="1">
      <div role="columnheader" class="cell cell-tick"><button class="box" role="checkbox" aria-checked=${isAll} aria-label=${word("select_all")}
        onClick=${selectAll}><${Icon} name="check" size=${16} /></button></div>
      <${Heading} by="name" label=${word("name")} />
      ${hasOwners && html`<${Heading} by="owner" label=${word("owner")} />`}
      <${Heading} by="size" label=${word("size")} />
      <${Heading} by="modified" label=${word("modified")} />
      <div role="columnheader" class="cell cell-last"><span class="hidden">${word("more")}</span></div>
    </div></div>
    <div role="rowgroup" class="rows" style=${{ height: `${Math.ceil(all.length / perRow.value) * rowHeight.value}px` }}>
      ${all.slice(first, last).map((entry, offset) =>
        html`<${Row} key=${entry.name} entry=${entry} index=${first + offset} hasOwners=${hasOwners} />`)}
    </div>
  </div>
  ${all.length === 0 && html`<${Nothing} />`}
  ${listing.value.entries.length > 0 && html`<p class="total" role="status">${summary(all)}</p>`}`;
}

/** @param {import("./state.js").Entry[]} all */
function summary(all) {
  const bytes = all.reduce((sum, entry) => sum + entry.size, 0);
  const hidden = listing.value.entries.length - all.length;
  const shown = `${all.length} ${word(all.length === 1 ? "item" : "items")} · ${size(bytes)}`;
  return hidden > 0 ? `${shown} · ${word("hidden_count", String(hidden))}` : shown;
}
