export { Upload, DetailedError } from "tus-js-client";
