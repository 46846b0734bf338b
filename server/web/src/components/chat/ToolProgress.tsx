import type { ActiveToolProgress, ToolProgressEvent } from "@/types/chat";

/** stages are a call's stages in order, each with what it told last. */
export function stages(updates: ToolProgressEvent[]): ToolProgressEvent[] {
  const byStage = new Map<string, ToolProgressEvent>();
  for (const u of updates) byStage.set(u.stage, u);
  return [...byStage.values()];
}

/** ToolProgress is what a running call tells: how far it is, and its stages. */
export function ToolProgress({ progress, tool }: { progress: ActiveToolProgress; tool: string }) {
  const { updates } = progress;
  const last = updates.at(-1);
  if (!last) return null;
  const done = updates.findLast((u) => typeof u.progress === "number")?.progress;
  const list = stages(updates).slice(-6);
  const output = last.stage === "output";
  return (
    <div className="border-t border-border px-3 py-2">
      {done !== undefined && (
        <div
          role="progressbar"
          aria-label={`Progress of ${tool}`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(done * 100)}
          className="mb-2 h-1 overflow-hidden rounded-full bg-raised"
        >
          <div className="h-full origin-left bg-accent transition-transform" style={{ transform: `scaleX(${Math.min(1, Math.max(0, done))})` }} />
        </div>
      )}
      {output ? (
        <pre className="max-h-40 overflow-y-auto font-mono text-xs break-words whitespace-pre-wrap text-muted">{updates.slice(-12).map((u) => u.message).join("\n")}</pre>
      ) : (
        <ol className="flex flex-col gap-1 text-[13px]">
          {list.map((u) => (
            <li key={u.stage} className={u === last ? "text-ink" : "text-muted"}>
              {u.message || u.stage}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
