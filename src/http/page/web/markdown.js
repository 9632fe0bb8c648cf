// Markdown as a page, with everything taken out that could run or load from elsewhere.

import { address, place } from "./api.js";
import { parent } from "./format.js";
import { hash } from "./state.js";
import { base } from "./format.js";

/** @param {HTMLElement} element @param {string} text @param {any} zone @param {string} path */
export async function showMarkdown(element, text, zone, path) {
  const { marked, DOMPurify } = await import("./lib/markdown.js");
  const content = DOMPurify.sanitize(await marked.parse(text), {
    USE_PROFILES: { html: true }, FORBID_TAGS: ["style", "form", "input", "button", "iframe", "video", "audio"],
    FORBID_ATTR: ["style", "id", "name", "class"], RETURN_DOM_FRAGMENT: true,
  });
  for (const image of content.querySelectorAll("img")) {
    const at = inside(image.getAttribute("src") ?? "", path);
    if (at === null) image.removeAttribute("src");
    else image.src = address(zone, at, true);
    image.removeAttribute("srcset");
  }
  for (const link of content.querySelectorAll("a[href]")) {
    const to = link.getAttribute("href") ?? "";
    const at = inside(to, path);
    if (at !== null) link.setAttribute("href", hash({ ...place(zone), path: parent(at), open: base(at) }));
    else if (/^(https?|mailto):/i.test(to)) {
      link.setAttribute("target", "_blank");
      link.setAttribute("rel", "noopener noreferrer");
    } else link.removeAttribute("href");
  }
  element.replaceChildren(content);
}

/** The path in the zone that a relative address means, or null. @param {string} to @param {string} path */
function inside(to, path) {
  if (!to || /^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(to)) return null;
  const root = "https://zone.invalid/";
  const whole = new URL(to, new URL(path.split("/").map(encodeURIComponent).join("/"), root));
  if (!whole.href.startsWith(root)) return null;
  try {
    return decodeURIComponent(whole.pathname.slice(1));
  } catch {
    return null;
  }
}
