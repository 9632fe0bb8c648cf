// The words of the page. The module of the person's language, which the page names before all others, brings
// them.

/** @type {Record<string, string>} */
let words = {};

/** Takes the words of the language. @param {Record<string, string>} given */
export function speak(given) {
  words = given;
}

/** The language of the page. */
export const language = document.documentElement.lang;

/** A text, with values in the place of {0}, {1}. @param {string} key @param {...(string|number)} values */
export function word(key, ...values) {
  return (words[key] ?? key).replace(/\{(\d)\}/g, (_, place) => String(values[Number(place)]));
}
