import { Switch as Base } from "radix-ui";

/** Switch turns something on or off at once; label is what it is called. */
export function Switch({
  label,
  checked,
  onChange,
  disabled,
}: {
  label: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
}) {
  return (
    <Base.Root
      aria-label={label}
      checked={checked}
      disabled={disabled}
      onCheckedChange={onChange}
      // What is hit is larger than what is drawn: a finger is no pointer.
      className="relative h-5 w-9 after:absolute after:-inset-1.5 shrink-0 rounded-full border border-muted bg-raised disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
    >
      <Base.Thumb className="block size-3.5 translate-x-0.5 rounded-full bg-muted transition-transform data-[state=checked]:translate-x-[17px] data-[state=checked]:bg-on-accent" />
    </Base.Root>
  );
}
