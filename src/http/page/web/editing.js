// An open editor: the lease by which nobody else changes the file meanwhile, and the draft that stays in
// this browser until it is saved.

import { call, endLease, place, takeLease } from "./api.js";
import { ask } from "./dialog.js";
import { draftsOf, hash } from "./state.js";
import { word } from "./words.js";

/** @typedef {import("./api.js").Zone} Zone */
/** @typedef {{token: string, end: () => void}} Lease */
/** @typedef {{base: string, text: string, changed: boolean, lease: Lease, read?: () => string}} Edit */

/** Takes a file until the lease is ended, or the page is left. @param {Zone} zone @param {string} path @returns {Promise<Lease>} */
export async function openLease(zone, path) {
  const { token, seconds } = await takeLease(zone, path);
  const lease = { token, end };
  const renew = async () => {
    try {
      lease.token = (await takeLease(zone, path, lease.token)).token;
    } catch {
      // The next one may be had, and saving sees what has changed.
    }
  };
  const timer = setInterval(renew, (seconds * 1000) / 3);
  const giveBack = () => endLease(zone, path, lease.token);
  function end() {
    clearInterval(timer);
    window.removeEventListener("pagehide", giveBack);
    window.removeEventListener("pageshow", renew);
    giveBack();
  }
  window.addEventListener("pagehide", giveBack);
  window.addEventListener("pageshow", renew);
  return lease;
}

/** An edited text with the line ends that the text had. @param {string} old @param {string} edited */
function withEndsOf(old, edited) {
  const end = old.match(/\r\n|\r|\n/)?.[0] ?? "\n";
  return end === "\n" ? edited : edited.replace(/\n/g, end);
}

/** Replaces the text of a file in its encoding; `true` if it is saved. @param {Zone} zone @param {string} path @param {Edit} edit */
export async function saveEdit(zone, path, { base, read, lease }) {
  const given = { ...place(zone), path, lease: lease.token };
  const opened = await call("shed_lockedit_open", given);
  try {
    const answers = [{ value: "replace", label: word("replace"), kind: "danger" }];
    const isOther = opened.content !== base;
    if (!isOther || (await ask({ title: word("changed_meanwhile"), text: word("changed_note"), answers }))) {
      await call("shed_lockedit_overwrite", { ...given, content: withEndsOf(base, read?.() ?? base) });
      await call("shed_lockedit_save", given);
      return true;
    }
  } catch (error) {
    await call("shed_lockedit_cancel", given).catch(() => {});
    throw error;
  }
  await call("shed_lockedit_cancel", given);
  return false;
}

/** Milliseconds after which a change is kept. */
const PAUSE = 400;

/** Unsaved text, one draft per file and person, as far as the browser keeps it. */
export const drafts = {
  /** @param {Zone} zone @param {string} path */
  name(zone, path) {
    return draftsOf() + hash({ ...zone, path });
  },
  /** @param {Zone} zone @param {string} path @returns {{text: string, at: number}|null} */
  of(zone, path) {
    try {
      return JSON.parse(localStorage.getItem(this.name(zone, path)) ?? "null");
    } catch {
      return null;
    }
  },
  pause: 0,
  /** @param {Zone} zone @param {string} path @param {() => string|undefined} read */
  keep(zone, path, read) {
    const name = this.name(zone, path);
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      const text = read();
      try {
        if (text !== undefined) localStorage.setItem(name, JSON.stringify({ text, at: Date.now() }));
      } catch {
        // Too large for the browser: the question when leaving remains.
      }
    }, PAUSE);
  },
  /** @param {Zone} zone @param {string} path */
  drop(zone, path) {
    clearTimeout(this.pause);
    try {
      localStorage.removeItem(this.name(zone, path));
    } catch {
      // There is none.
    }
  },
};
