// Files of the script provider. JSON is YAML, too.

/** script is a model that answers by these responses, in order where none has a condition. */
export function script(responses, extra = {}) {
  return JSON.stringify({ model: "scripted", ...extra, responses });
}

/** words are so many different words, so that a doubled or a lost one is seen. */
export function words(n, word = "word") {
  return Array.from({ length: n }, (_, i) => `${word}${i}`);
}

/** call is one call of a tool. */
export function call(name, args = {}) {
  return { name, args };
}
