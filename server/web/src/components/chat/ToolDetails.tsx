import { PanelRight } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Choice } from "@/components/ui/Choice";
import { CopyButton } from "@/components/ui/CodeBlock";
import { Skeleton } from "@/components/ui/States";
import { cn } from "@/lib/cn";
import { useUI } from "@/lib/ui";
import type { ToolCall } from "@/types/chat";
import { ToolCard } from "./ToolCard";

const UndoCall = lazy(() => import("@/components/files/UndoCall").then((m) => ({ default: m.UndoCall })));
const View = lazy(() => import("@/components/renderers/ToolCallView").then((m) => ({ default: m.ToolCallView })));

type Part = "view" | "output" | "input";
const names: Record<Part, string> = { view: "View", output: "Output", input: "Input" };

// More than this of an output is for the workspace panel, which shows it whole.
const maxOutput = 20_000;

/** ToolDetails is an open card: what the renderer shows, output, input, and the way back. */
export function ToolDetails({ call, chatId, undone }: { call: ToolCall; chatId: string | null; undone: boolean }) {
  // What the result looks like comes first, the raw arguments last.
  const parts: Part[] = [...(call.call_id && call.status !== "running" && (call.render_plan || call.renderer) ? (["view"] as const) : []), "output", "input"];
  const [chosen, setChosen] = useState<Part | null>(null);
  const part = chosen ?? (call.status === "running" ? "input" : (parts[0] ?? "output"));
  const { select } = useUI.getState();
  const callId = call.call_id;
  const changed = call.changes?.length ?? 0;
  return (
    <div className="border-t border-border">
      <div className="flex flex-wrap items-center gap-1 px-2 py-1">
        <Choice label="What of the call is shown" className="flex-1" options={parts.map((id) => ({ id, label: names[id] }))} value={part} onChange={setChosen} />
        {callId && (
          <Button size="small" look="quiet" onClick={() => select({ kind: "call", callId })}>
            <PanelRight className="size-4" aria-hidden="true" />
            Open in workspace
          </Button>
        )}
        {chatId && callId && changed > 0 && call.pre_manifest_id && (
          <Suspense>
            <UndoCall name={call.tool_name} callId={callId} chatId={chatId} undone={undone} />
          </Suspense>
        )}
      </div>
      {part === "view" && callId ? (
        <div className="h-80 overflow-auto border-t border-border">
          <Suspense fallback={<Skeleton lines={6} />}>
            <View callId={callId} compact />
          </Suspense>
        </div>
      ) : (
        <Plain text={part === "input" ? inputText(call.input) : call.output || call.error || (call.status === "running" ? "It runs." : "It gave no text.")} />
      )}
      {call.apps && <AppCalls calls={call.apps} all={call.app_calls ?? call.apps.length} chatId={chatId} />}
      {changed > 0 && (
        <ul aria-label="Files changed" className="border-t border-border px-3 py-2 font-mono text-xs">
          {call.changes?.map((c) => (
            <li key={c.path} className="flex items-center gap-2">
              <span className={cn("w-14 shrink-0", c.kind === "added" ? "text-good" : c.kind === "removed" ? "text-bad" : "text-warn")}>{c.kind}</span>
              <button type="button" className="min-h-6 min-w-0 truncate text-left hover:underline" onClick={() => select({ kind: "file", path: c.path, manifestId: call.post_manifest_id })}>
                {c.path}
              </button>
            </li>
          ))}
          <li className="pt-1">
            <button type="button" className="min-h-6 font-sans text-[13px] text-accent-ink hover:underline" onClick={() => select({ kind: "timeline" })}>
              Show the changes in the timeline
            </button>
          </li>
        </ul>
      )}
    </div>
  );
}

/** AppCalls are the calls that the page of a call made, each a card. */
function AppCalls({ calls, all, chatId }: { calls: ToolCall[]; all: number; chatId: string | null }) {
  return (
    <section aria-label="Calls by its page" className="border-t border-border px-3 py-1">
      {all > calls.length && <p className="pt-1 text-xs text-muted">{`The last ${calls.length} of ${all.toLocaleString("en")} calls by its page`}</p>}
      {calls.map((c) => (
        <ToolCard key={c.call_id} call={c} chatId={chatId} />
      ))}
    </section>
  );
}

function Plain({ text }: { text: string }) {
  return (
    <div className="relative border-t border-border">
      {/* A scrolling box has to be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} dir="auto" className="max-h-80 overflow-auto px-3 py-2 pr-10 font-mono text-xs break-words whitespace-pre-wrap">
        {text.length > maxOutput ? `${text.slice(0, maxOutput)}\n… ${text.length - maxOutput} more characters` : text}
      </pre>
      <div className="absolute top-1 right-1">
        <CopyButton text={() => text} />
      </div>
    </div>
  );
}

/** inputText is the arguments as a person reads them: long texts as they are. */
export function inputText(input: Record<string, unknown>): string {
  const entries = Object.entries(input);
  if (entries.length === 0) return "No arguments.";
  return entries.map(([key, value]) => (typeof value === "string" ? (value.includes("\n") ? `${key}:\n${value}` : `${key}: ${value}`) : `${key}: ${JSON.stringify(value, null, 2)}`)).join("\n");
}
