import { keep } from "./token";

/**
 * open spends the code in the address, if `fettle serve --open` has opened the
 * page: it is good for the token, once.
 */
export async function open(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const code = fragment.get("open");
  if (!code) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    const response = await fetch("/api/open", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
      credentials: "omit",
    });
    if (response.ok) keep(((await response.json()) as { token: string }).token);
  } catch {
    // Without a token the page says how it is opened.
  }
}
