export { marked } from "marked";
export { default as DOMPurify } from "dompurify";
