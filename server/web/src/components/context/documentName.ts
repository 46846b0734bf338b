/** documentName is a file's name as a document can have it: one word, so that a person can type it. */
export function documentName(file: string): string {
  return file.trim().replace(/[\s"'`\\/\u0000-\u001f\u007f]+/g, "-");
}
