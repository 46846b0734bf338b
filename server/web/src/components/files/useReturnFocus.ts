import { useEffect, useState } from "react";

/**
 * useReturnFocus gives the focus back to where it was when a dialog came that moves
 * it to one of its own buttons: the dialog itself looks for that too late.
 */
export function useReturnFocus() {
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    return () => {
      setTimeout(() => {
        const lost = document.activeElement === null || document.activeElement === document.body;
        if (lost && before instanceof HTMLElement && before.isConnected) before.focus();
      });
    };
  }, [before]);
}
