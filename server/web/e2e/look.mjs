// What everybody has to be able to see and hit, measured in the page: the contrast of
// icons and placeholders (WCAG 1.4.11; axe has that of texts), the size of what a
// finger is to hit, what is covered or cut off, and whether the page is wider than its
// window.

/** least is the side of a target on a phone, in px (WCAG 2.5.8). */
const least = 24;

/** faultsOf gives what is wrong with what is in sight; touch also looks at the size of targets. */
export async function faultsOf(page, { touch = false } = {}) {
  return page.evaluate(measure, { touch, least });
}

// Runs in the page, so it has to hold all that it needs.
function measure({ touch, least }) {
  const faults = [];
  const name = (e) => `${e.tagName.toLowerCase()} "${(e.getAttribute("aria-label") || e.innerText || e.getAttribute("placeholder") || e.id || e.className || "").toString().trim().replace(/\s+/g, " ").slice(0, 60)}"`;
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  /** the colour behind an element, its own included where own is set */
  const ground = (e, own) => {
    const layers = [];
    for (let at = own ? e : e.parentElement; at; at = at.parentElement) {
      const c = rgba(getComputedStyle(at).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reduceRight((below, top) => over(top, below), rgba(getComputedStyle(document.body).backgroundColor));
  };
  const faded = (e) => {
    for (let at = e; at; at = at.parentElement) if (Number(getComputedStyle(at).opacity) < 1) return true;
    return false;
  };

  const dialog = [...document.querySelectorAll("[role=dialog], [role=menu]")].at(-1);
  const inSight = (e) => {
    if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.closest("[inert], [aria-hidden=true]") || (dialog && !dialog.contains(e))) return null;
    const b = e.getBoundingClientRect();
    if (b.width < 2 || b.height < 2 || b.top < 0 || b.left < 0 || b.bottom > innerHeight + 0.5) return null;
    // What a scrolled box cuts off is reached by scrolling.
    for (let at = e.parentElement; at; at = at.parentElement) {
      const s = getComputedStyle(at);
      if (s.overflowX === "visible" && s.overflowY === "visible") continue;
      const c = at.getBoundingClientRect();
      if (b.top < c.top - 1 || b.bottom > c.bottom + 1 || b.left < c.left - 1 || b.right > c.right + 1) return at.clientWidth >= at.scrollWidth && (b.left < c.left - 1 || b.right > c.right + 1) ? "cut" : null;
    }
    return b;
  };

  const controls = document.querySelectorAll("button, a[href], input:not([type=hidden]), textarea, select, summary, [role=button], [role=tab], [role=switch], [role=checkbox], [role=treeitem], [role=menuitem], [contenteditable=true]");
  for (const e of controls) {
    const b = inSight(e);
    if (b === null) continue;
    if (b === "cut") {
      faults.push(`${name(e)} is cut off at a side`);
      continue;
    }
    if (b.right > innerWidth + 0.5) faults.push(`${name(e)} is cut off by the window`);
    const style = getComputedStyle(e);
    const idle = e.disabled || e.getAttribute("aria-disabled") === "true";

    if (e.placeholder && !e.value) {
      const r = ratio(over(rgba(getComputedStyle(e, "::placeholder").color), ground(e, true)), ground(e, true));
      if (r < 4.5) faults.push(`the placeholder of ${name(e)} has a contrast of ${r.toFixed(2)}; 4.5 is the least`);
    }
    // An icon that stands alone.
    const icon = e.querySelector("svg");
    if (icon && !idle && !faded(e) && !e.innerText?.trim()) {
      const r = ratio(over(rgba(getComputedStyle(icon).color), ground(e, true)), ground(e, true));
      if (r < 3) faults.push(`the icon of ${name(e)} has a contrast of ${r.toFixed(2)}; 3 is the least`);
    }
    if (e.matches("button, [role=tab]") && e.scrollWidth > e.clientWidth + 1 && style.overflowX !== "visible" && style.textOverflow !== "ellipsis") faults.push(`the words of ${name(e)} are cut`);

    // What is drawn is what is hit. A label hits its field.
    const hits = (x, y) => {
      const at = document.elementFromPoint(x, y);
      return Boolean(at) && (e.contains(at) || [...(e.labels ?? [])].some((l) => l.contains(at)) || Boolean(e.closest("label")?.contains(at)));
    };
    const [x, y] = [b.x + b.width / 2, b.y + b.height / 2];
    const inline = style.display === "inline";
    if (!inline && style.pointerEvents !== "none" && !e.matches("[role=treeitem], [contenteditable]") && x < innerWidth && !hits(x, y)) {
      const at = document.elementFromPoint(x, y);
      faults.push(`${name(e)} is covered by ${at ? name(at) : "nothing that can be hit"}`);
    }
    if (!touch || idle || (inline && e.matches("a"))) continue;
    const need = least / 2 - 0.75;
    // A label is hit as well as its field.
    const large = (side) => [e, ...(e.labels ?? [])].some((one) => one.getBoundingClientRect()[side] >= least - 0.5);
    const small = [];
    if (!large("width") && !(hits(x - need, y) && hits(x + need, y))) small.push(`${b.width.toFixed(0)} px wide`);
    if (!large("height") && !(hits(x, y - need) && hits(x, y + need))) small.push(`${b.height.toFixed(0)} px high`);
    if (small.length > 0 && !e.matches("[role=treeitem] *")) faults.push(`the target ${name(e)} is ${small.join(" and ")}; ${least} is the least on a phone`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} px wide in a window of ${innerWidth}`);
  return faults;
}
