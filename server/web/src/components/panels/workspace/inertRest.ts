/** inertRest takes everything beside an element out of reach, and gives it back. */
export function inertRest(element: HTMLElement): () => void {
  const changed: Element[] = [];
  for (let at: HTMLElement = element; at.parentElement && at !== document.body; at = at.parentElement) {
    for (const sibling of at.parentElement.children) {
      // What is told stays heard.
      if (sibling === at || sibling.hasAttribute("inert") || sibling.matches("[role=status], script, [data-radix-portal]")) continue;
      sibling.setAttribute("inert", "");
      changed.push(sibling);
    }
  }
  return () => changed.forEach((e) => e.removeAttribute("inert"));
}
