import { TriangleAlert } from "lucide-react";
import { Code } from "./code";

/** ErrorView is how a call failed: its message, and where in the tool it happened. */
export function ErrorView({ message, traceback }: { message: string; traceback?: string }) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <p className="flex shrink-0 items-start gap-2 p-3 text-[13px] text-bad">
        <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
        <span className="min-w-0 break-words whitespace-pre-wrap">{message}</span>
      </p>
      {traceback && traceback !== message && (
        <div className="min-h-0 flex-1 border-t border-border">
          <Code value={traceback} label="Traceback" language={traceback.startsWith("Traceback") ? "python" : "text"} readOnly wrap />
        </div>
      )}
    </div>
  );
}
