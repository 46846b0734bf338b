/** nonce is what a <style> element needs that is made at run time. */
export function nonce(): string {
  const value = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  return value.startsWith("__") ? "" : value;
}
