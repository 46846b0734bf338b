import { X } from "lucide-react";
import { create } from "zustand";
import { explain } from "@/lib/api/fault";
import { cn } from "@/lib/cn";
import { Button, IconButton } from "./Button";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  action?: { label: string; run(): void };
}

const useToasts = create<{ toasts: Toast[] }>()(() => ({ toasts: [] }));

// Long enough to read a sentence and to reach its button; failures stay.
const shown = 8_000;
let next = 1;

function add(toast: Omit<Toast, "id">) {
  const id = next++;
  useToasts.setState((s) => ({ toasts: [...s.toasts.slice(-3), { ...toast, id }] }));
  if (!toast.bad) setTimeout(() => drop(id), shown);
}

function drop(id: number) {
  useToasts.setState((s) => ({ toasts: s.toasts.filter((t) => t.id !== id) }));
}

/** tell says that something is done, with a way back where there is one. */
export function tell(text: string, action?: Toast["action"]) {
  add({ text, bad: false, action });
}

/** tellFault says what failed and why. */
export function tellFault(what: string, error: unknown) {
  const { message, hints } = explain(error);
  add({ text: [`${what}: ${message}`, ...hints].join(". "), bad: true });
}

export function Toasts() {
  const toasts = useToasts((s) => s.toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      // At the top, where a dialog has its title: its buttons are below, and Close at the right stays free.
      className="pointer-events-none fixed top-2 left-3 z-50 flex w-[min(420px,calc(100vw-84px))] flex-col gap-2 sm:left-1/2 sm:-translate-x-1/2"
    >
      {toasts.map((toast) => (
        <div
          key={toast.id}
          className={cn(
            "pointer-events-auto flex items-start gap-2 rounded-lg border bg-surface py-1 pr-1 pl-3 text-[13px] shadow-xl",
            toast.bad ? "border-bad" : "border-border",
          )}
        >
          <p className="min-w-0 flex-1 py-1.5 break-words">{toast.text}</p>
          {toast.action && (
            <Button
              size="small"
              look="quiet"
              className="mt-0.5 text-accent-ink"
              onClick={() => {
                toast.action?.run();
                drop(toast.id);
              }}
            >
              {toast.action.label}
            </Button>
          )}
          <IconButton label="Dismiss" onClick={() => drop(toast.id)}>
            <X />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
