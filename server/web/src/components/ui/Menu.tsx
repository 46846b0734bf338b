import { DropdownMenu as Base } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "@/lib/cn";
import { usePortal } from "@/lib/portal";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  danger?: boolean;
  disabled?: boolean;
  onSelect(): void;
}

/** Menu opens a list of actions below its trigger, which has to take a ref. */
export function Menu({ items, children }: { items: MenuItem[]; children: ReactNode }) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger asChild>{children}</Base.Trigger>
      <Base.Portal container={usePortal()}>
        <Base.Content align="end" sideOffset={4} className="z-50 min-w-40 rounded-lg border border-border bg-surface p-1 shadow-xl">
          {items.map((item) => (
            <Base.Item
              key={item.label}
              disabled={item.disabled}
              onSelect={item.onSelect}
              className={cn(
                "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50 data-[highlighted]:bg-raised [&_svg]:size-4",
                item.danger ? "text-bad" : "text-ink",
              )}
            >
              {item.icon}
              {item.label}
            </Base.Item>
          ))}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}
