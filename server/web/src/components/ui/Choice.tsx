import { cn } from "@/lib/cn";
import { Button } from "./Button";

/** Choice is a row of buttons of which one is pressed: a few forms of the same thing. */
export function Choice<T extends string>({ label, options, value, onChange, className }: {
  label: string;
  options: readonly { id: NoInfer<T>; label: string; className?: string }[];
  value: T;
  onChange(id: NoInfer<T>): void;
  className?: string;
}) {
  return (
    <div role="group" aria-label={label} className={cn("flex gap-1", className)}>
      {options.map((o) => (
        <Button key={o.id} size="small" look="quiet" aria-pressed={o.id === value} className={cn("aria-pressed:bg-raised aria-pressed:text-ink", o.className)} onClick={() => onChange(o.id)}>
          {o.label}
        </Button>
      ))}
    </div>
  );
}
