import { Tabs as Base } from "radix-ui";
import type { ReactNode } from "react";

export interface Tab<T extends string> {
  id: T;
  label: string;
  badge?: number;
  content: ReactNode;
}

/** Tabs shows one of several contents; arrows move between their names. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string;
  tabs: Tab<T>[];
  value: T;
  onChange(id: T): void;
}) {
  return (
    <Base.Root value={value} onValueChange={(id) => onChange(id as T)} className="flex h-full min-h-0 flex-col">
      <Base.List aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b border-border px-2">
        {tabs.map((tab) => (
          <Base.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px flex items-center gap-1.5 border-b-2 border-transparent px-2 py-2 text-[13px] text-muted outline-offset-[-2px] hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
            {tab.badge ? <span className="rounded-full bg-raised px-1.5 text-xs">{tab.badge}</span> : null}
          </Base.Trigger>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Content key={tab.id} value={tab.id} tabIndex={-1} className="min-h-0 flex-1 outline-none">
          {tab.content}
        </Base.Content>
      ))}
    </Base.Root>
  );
}
