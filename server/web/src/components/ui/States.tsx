import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiFault, explain } from "@/lib/api/fault";
import { cn } from "@/lib/cn";
import { Button } from "./Button";
import { Words } from "./Words";

/** Empty says what goes here, and offers the action that brings it. */
export function Empty({ icon, title, children, action }: { icon?: ReactNode; title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-3 p-6 text-center">
      {icon && <div className="text-muted [&_svg]:size-6" aria-hidden="true">{icon}</div>}
      <p className="text-[15px] font-medium">{title}</p>
      {children && <div className="max-w-80 text-[13px] text-muted">{children}</div>}
      {action}
    </div>
  );
}

/** Failed is an error with its cause, what can be done, and another try. */
export function Failed({ error, what, onRetry }: { error: unknown; what: string; onRetry?: () => void }) {
  // The chat shows how the page is opened with its token; once is enough.
  if (error instanceof ApiFault && error.status === 401) return <p className="m-3 text-[13px] text-muted">This is shown once the page has its token.</p>;
  const { message, hints } = explain(error);
  return (
    <div role="alert" className="m-3 rounded-lg border border-bad p-3 text-[13px]">
      <p className="flex items-start gap-2 font-medium text-bad">
        <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
        {what}
      </p>
      <p className="mt-1 break-words">{message}</p>
      {hints.map((hint) => (
        <p key={hint} className="mt-1 break-words text-muted">
          <Words>{hint}</Words>
        </p>
      ))}
      {onRetry && (
        <Button size="small" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Skeleton has the shape of the lines that come. */
export function Skeleton({ lines = 3, className }: { lines?: number; className?: string }) {
  return (
    <div className={cn("flex flex-col gap-2 p-3", className)} role="status" aria-busy="true" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className={cn("h-4 animate-pulse rounded bg-raised", ["w-full", "w-5/6", "w-2/3"][i % 3])} />
      ))}
    </div>
  );
}
