import { forwardRef, useEffect, useState, type ButtonHTMLAttributes, type ReactNode } from "react";
import { cn } from "@/lib/cn";
import { Tooltip } from "./Tooltip";

const looks = {
  plain: "border border-border bg-surface text-ink hover:bg-raised",
  quiet: "text-muted hover:bg-raised hover:text-ink",
  accent: "bg-accent text-on-accent hover:bg-accent-hover font-medium",
  danger: "border border-bad text-bad hover:bg-removed",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof looks;
  size?: "small" | "normal";
}

/** Button is a labelled button; for icons alone there is IconButton. */
export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { look = "plain", size = "normal", className, type = "button", ...rest },
  ref,
) {
  return (
    <button
      ref={ref}
      type={type}
      className={cn(
        "inline-flex shrink-0 items-center justify-center gap-2 rounded-md disabled:cursor-not-allowed disabled:opacity-50",
        size === "small" ? "h-7 px-2 text-[13px]" : "h-8 px-3 text-sm",
        looks[look],
        className,
      )}
      {...rest}
    />
  );
});

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "aria-label"> {
  label: string; // what it does: its name and its tooltip
  look?: keyof typeof looks;
  children: ReactNode;
}

/** IconButton is a square button with an icon; its label is read and hovered. */
export const IconButton = forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { label, look = "quiet", className, children, type = "button", ...rest },
  ref,
) {
  return (
    <Tooltip text={label}>
      <button
        ref={ref}
        type={type}
        aria-label={label}
        className={cn(
          "inline-flex size-8 shrink-0 items-center justify-center rounded-md disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4",
          looks[look],
          className,
        )}
        {...rest}
      >
        {children}
      </button>
    </Tooltip>
  );
});

// A card that appears under a finger or a pointer isn't what they meant.
const settle = 600;

/** useSettled is false for a moment after a card has appeared, and after another question has taken its place. */
export function useSettled(question: unknown = null): boolean {
  const [settled, setSettled] = useState<{ question: unknown } | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ question }), settle);
    return () => clearTimeout(timer);
  }, [question]);
  return settled !== null && settled.question === question;
}
