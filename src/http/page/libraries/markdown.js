export { Marked } from "marked";
export { default as DOMPurify } from "dompurify";
