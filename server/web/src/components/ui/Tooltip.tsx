import { Tooltip as Base } from "radix-ui";
import type { ReactNode } from "react";
import { usePortal } from "@/lib/portal";

export function TooltipProvider({ children }: { children: ReactNode }) {
  return <Base.Provider delayDuration={500}>{children}</Base.Provider>;
}

/** Tooltip names what its child does; the child has to take a ref. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <Base.Root>
      <Base.Trigger asChild>{children}</Base.Trigger>
      <Base.Portal container={usePortal()}>
        <Base.Content sideOffset={6} className="z-50 max-w-80 rounded-md border border-border bg-surface px-2 py-1 text-[13px] text-ink shadow-lg">
          {text}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}
