// Sizes, times and names as people read them.

import { language } from "./words.js";

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** @param {number} bytes */
export function size(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${number.format(Number(value.toFixed(digits)))} ${UNITS[unit]}`;
}

const number = new Intl.NumberFormat(language);
const days = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
const long = new Intl.DateTimeFormat(language, { dateStyle: "full" });
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** A time of a day. @param {number|string|Date} when */
export function clock(when) {
  return time.format(new Date(when));
}

/**
 * Groups entries by day, in their order: today, yesterday, a date.
 * @template T @param {T[]} all @param {(one: T) => string} when @returns {[string, T[]][]}
 */
export function byDay(all, when) {
  const midnight = (/** @type {Date} */ date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const today = midnight(new Date());
  const groups = new Map();
  for (const one of all) {
    const date = new Date(when(one));
    const ago = Math.round((today - midnight(date)) / 86_400_000);
    const title = ago < 2 ? relative.format(-ago, "day") : long.format(date);
    groups.set(title, [...groups.get(title) ?? [], one]);
  }
  return [...groups].map(([title, some]) => [title[0].toUpperCase() + title.slice(1), some]);
}

/** A time of today, or a day. @param {number} seconds since 1970 */
export function date(seconds) {
  const when = new Date(seconds * 1000);
  const isToday = when.toDateString() === new Date().toDateString();
  return (isToday ? time : days).format(when);
}

/** A day. @param {number|string|Date} when */
export function day(when) {
  return days.format(new Date(when));
}

/** Day and time. @param {number|string|Date} when */
export function instant(when) {
  return moment.format(new Date(when));
}

/**
 * A time in days where it is whole days, else in hours.
 *
 * @param {number} hours
 */
export function duration(hours) {
  const [value, unit] = hours % 24 === 0 ? [hours / 24, "day"] : [hours, "hour"];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(value);
}

/** @param {number} count */
export function count(count) {
  return number.format(count);
}

/** The part of a name behind its last dot, in lower case. @param {string} name */
export function extension(name) {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}

/** @param {string} directory @param {string} name */
export function join(directory, name) {
  return directory ? `${directory}/${name}` : name;
}

/** @param {string} path */
export function parent(path) {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

/** @param {string} path */
export function base(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
