import { Search, X } from "lucide-react";
import { IconButton } from "./Button";

/** SearchField narrows what stands below it. Escape empties it first, and closes what is around it the next time. */
export function SearchField({ label, placeholder = label, value, onChange }: { label: string; placeholder?: string; value: string; onChange(text: string): void }) {
  return (
    <div className="relative min-w-32 flex-1">
      <Search className="pointer-events-none absolute top-2 left-2 size-4 text-muted" aria-hidden="true" />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        spellCheck={false}
        value={value}
        onChange={(e) => onChange(e.target.value)}
        onKeyDown={(e) => {
          if (e.key !== "Escape" || !value) return;
          e.stopPropagation();
          onChange("");
        }}
        className="h-8 w-full rounded-md border border-border bg-bg pr-8 pl-8 text-[13px] placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
      />
      {value && (
        <IconButton label="Clear" className="absolute top-0 right-0" onClick={() => onChange("")}>
          <X />
        </IconButton>
      )}
    </div>
  );
}
