// Entries that are dragged, and the places onto which they, or files of the machine, may be dropped.

import { carry, pathOf } from "./actions.js";
import { address } from "./api.js";
import { isSameZone, location, selected } from "./state.js";
import { takeDropped } from "./upload.js";

/** @typedef {import("./state.js").Location} Location */

/** The entries on their way inside the page; a browser tells nothing of them before they are dropped. @type {{from: Location, paths: string[]}|null} */
let carried = null;

export const isCarrying = () => carried !== null;

/** Lets an entry be dragged, with all that is selected if it is. @param {import("./state.js").Entry} entry */
export function dragOf(entry) {
  return {
    draggable: true,
    onDragStart: (/** @type {DragEvent} */ event) => {
      const chosen = selected.value.includes(entry) ? selected.value : [entry];
      carried = { from: location.value, paths: chosen.map(pathOf) };
      const data = /** @type {DataTransfer} */ (event.dataTransfer);
      data.effectAllowed = "copyMove";
      data.setData("text/plain", chosen.map(({ name }) => name).join("\n"));
      if (chosen.length > 1 || entry.type === "directory") return;
      // Chromium saves it where it is dropped outside of the browser.
      const at = new URL(address(location.value, pathOf(entry)), document.baseURI);
      data.setData("DownloadURL", `application/octet-stream:${entry.name}:${at}`);
    },
    onDragEnd: () => (carried = null),
  };
}

/** Returns `true` if entries are copied: those from another zone are, unless a key says otherwise. @param {DragEvent} event @param {Location} to */
function copies(event, to) {
  if (event.ctrlKey || event.altKey) return true;
  return !event.shiftKey && carried !== null && !isSameZone(carried.from, to);
}

/** @param {Location} to @param {boolean} isWritable */
function accepts(to, isWritable) {
  if (!carried) return isWritable || to.zone === "uploads";
  const isInside = isSameZone(carried.from, to) && carried.paths.some((path) => `${to.path}/`.startsWith(`${path}/`));
  return isWritable && to.zone !== "uploads" && !isInside;
}

/** Lets things be dropped into a directory. @param {Location} to @param {boolean} isWritable */
export function dropInto(to, isWritable = true) {
  const mark = (/** @type {DragEvent} */ event, /** @type {boolean} */ isOver) =>
    /** @type {Element} */ (event.currentTarget).classList.toggle("dropping", isOver);
  return {
    onDragOver: (/** @type {DragEvent} */ event) => {
      if (!accepts(to, isWritable)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.dataTransfer) event.dataTransfer.dropEffect = copies(event, to) || !carried ? "copy" : "move";
      mark(event, true);
    },
    onDragLeave: (/** @type {DragEvent} */ event) => mark(event, false),
    onDrop: (/** @type {DragEvent} */ event) => {
      mark(event, false);
      if (!accepts(to, isWritable) || !event.dataTransfer) return;
      event.preventDefault();
      event.stopPropagation();
      if (!carried) return takeDropped(event.dataTransfer, to);
      carry(carried.from, carried.paths, { ...to, copies: copies(event, to) });
      carried = null;
    },
  };
}
