// The token comes in the fragment of the address that `fettle serve` prints, so
// that no server's log has it. It is kept for this tab, and taken out of the
// address at once.
const key = "fettle_token";

let known: string | null = null;

/** token gives the server's token, or "" where the page was opened without one. */
export function token(): string {
  if (known !== null) return known;
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("token");
  if (given) {
    keep(given);
    fragment.delete("token");
    const rest = fragment.toString();
    history.replaceState(history.state, "", location.pathname + location.search + (rest ? "#" + rest : ""));
    return given;
  }
  try {
    known = sessionStorage.getItem(key) ?? "";
  } catch {
    known = "";
  }
  return known;
}

/** keep remembers a token that a person typed in, for this tab. */
export function keep(value: string) {
  known = value;
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // A browser without storage asks again after a reload.
  }
}

/** forget takes the token out of this tab. */
export function forget() {
  known = "";
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Without storage there is nothing to take out.
  }
}
