import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { copy } from "@/lib/copy";
import { IconButton } from "./Button";
import { tellFault } from "./Toasts";

/** CopyButton copies a text, and says that it did, or why not. */
export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 2_000);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <IconButton
      label={done ? "Copied" : label}
      onClick={() => {
        copy(text()).then(() => setDone(true), (error: unknown) => tellFault("It was not copied", error));
      }}
    >
      {done ? <Check /> : <Copy />}
    </IconButton>
  );
}

/** CodeBlock is code in a text, with a button that copies it. */
export function CodeBlock({ children }: { children?: ReactNode }) {
  const ref = useRef<HTMLPreElement>(null);
  return (
    <div className="group/code relative">
      {/* A scrolling box has to be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre ref={ref} tabIndex={0} className="overflow-x-auto">
        {children}
      </pre>
      <div className="absolute top-1 right-1 rounded-md bg-surface opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100 [@media(hover:none)]:opacity-100">
        <CopyButton label="Copy code" text={() => ref.current?.textContent ?? ""} />
      </div>
    </div>
  );
}
