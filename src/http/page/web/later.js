// Parts of the page that are fetched when somebody first sees them.

import { html, signal, useEffect } from "./lib/core.js";
import { Refusal } from "./api.js";
import { attempt } from "./state.js";
import { word } from "./words.js";

/** A module; where nobody answers, that is told as of any other request. @param {() => Promise<any>} load */
export const fetched = (load) => load().catch(() => { throw new Refusal(0, {}); });

/**
 * A component of a module that is not there yet.
 * @param {() => Promise<any>} load @param {string} name
 */
export function later(load, name) {
  const part = signal(/** @type {any} */ (null));
  return (/** @type {any} */ given) => {
    useEffect(() => {
      if (part.value) return;
      attempt(async () => {
        part.value = (await fetched(load))[name];
      });
    }, []);
    if (part.value) return html`<${part.value} ...${given} />`;
    return html`<p role="status" class="nothing"><span class="spinner" aria-hidden="true"></span>${word("loading")}</p>`;
  };
}
