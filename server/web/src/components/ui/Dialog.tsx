import { X } from "lucide-react";
import { Dialog as Base } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "@/lib/cn";
import { IconButton } from "./Button";
import { usePortal } from "@/lib/portal";

/** Dialog is a modal sheet. Escape and a click outside close it. */
export function Dialog({
  open,
  onOpenChange,
  title,
  about,
  wide,
  reading,
  children,
  footer,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: string;
  about?: ReactNode;
  wide?: boolean;
  /** nothing in it takes the focus, so that it has to be scrolled itself */
  reading?: boolean;
  children?: ReactNode;
  footer?: ReactNode;
}) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal container={usePortal()}>
        <Base.Overlay className="fixed inset-0 z-40 bg-black/60" />
        <Base.Content
          {...(about ? {} : { "aria-describedby": undefined })}
          // On the sheet, not on Close: its tooltip would take the first Escape.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          className={cn(
            "fixed top-1/2 left-1/2 z-40 flex max-h-[90dvh] w-[calc(100vw-24px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-border bg-surface shadow-2xl outline-none",
            wide ? "max-w-4xl" : "max-w-lg",
          )}
        >
          <div className="flex items-start gap-2 border-b border-border py-2 pr-2 pl-4">
            <div className="min-w-0 flex-1 py-1">
              <Base.Title className="text-[15px] font-semibold break-words">{title}</Base.Title>
              {about && <Base.Description className="mt-0.5 text-[13px] text-muted">{about}</Base.Description>}
            </div>
            <Base.Close asChild>
              <IconButton label="Close">
                <X />
              </IconButton>
            </Base.Close>
          </div>
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <div tabIndex={reading ? 0 : undefined} className="scroll-y min-h-0 flex-1 p-4 outline-offset-[-2px]">
            {children}
          </div>
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t border-border px-4 py-3">{footer}</div>}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}
