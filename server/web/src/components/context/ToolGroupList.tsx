import { ChevronRight, TriangleAlert } from "lucide-react";
import { useId, useState } from "react";
import { Switch } from "@/components/ui/Switch";
import type { ListedTool } from "@/lib/api/client";
import { cn } from "@/lib/cn";
import { firstLine, groupState, groupTitle } from "./filter";
import { Marks, RendererIcon } from "./marks";
import { useGroupSwitch, useToolSwitch, type ToolGroup } from "./queries";

/** ToolGroupList is the tools of one origin, with a switch for all of them. */
export function ToolGroupList({ group, onShow }: { group: ToolGroup; onShow(tool: ListedTool): void }) {
  const [open, setOpen] = useState(true);
  const id = useId();
  const tools = useToolSwitch();
  const whole = useGroupSwitch();
  const { title, kind } = groupTitle(group);
  const { checked, on } = groupState(group);

  function switchAll(enabled: boolean) {
    if (group.kind === "builtin") tools.mutate({ tools: group.tools.map((t) => t.tool_id), enabled });
    else whole.mutate({ kind: group.kind, id: group.id, enabled });
  }

  return (
    <section aria-labelledby={id} className="border-t border-border first:border-t-0">
      <div className="flex items-center gap-2 py-1 pr-3 pl-2">
        <h3 id={id} className="min-w-0 flex-1">
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="flex w-full min-w-0 items-center gap-1.5 rounded-md px-1 py-1.5 text-left text-[13px] font-semibold hover:bg-raised"
          >
            <ChevronRight className={cn("size-4 shrink-0 text-muted transition-transform", open && "rotate-90")} aria-hidden="true" />
            <span className="min-w-0">
              <span className="block break-words">{title}</span>
              <span className="block font-normal text-muted">
                {kind && <>{kind} · </>}
                {on} of {group.tools.length} on
              </span>
            </span>
          </button>
        </h3>
        <Switch label={`All tools of ${title}`} checked={checked} onChange={switchAll} />
      </div>
      {group.problem && <Problem text={group.problem} />}
      {open && (
        <ul className="px-2 pb-2">
          {group.tools.map((tool) => (
            <ToolRow
              key={tool.tool_id}
              tool={tool}
              off={!group.enabled}
              onShow={() => onShow(tool)}
              onSwitch={(enabled) => tools.mutate({ tools: [tool.tool_id], enabled })}
            />
          ))}
          {group.tools.length === 0 && <li className="px-7 py-1 text-[13px] text-muted">No tools yet: it has not been looked at.</li>}
        </ul>
      )}
    </section>
  );
}

function ToolRow({ tool, off, onShow, onSwitch }: { tool: ListedTool; off: boolean; onShow(): void; onSwitch(on: boolean): void }) {
  return (
    <li className="flex items-center gap-2 rounded-md pr-1 pl-1 hover:bg-raised">
      <button type="button" onClick={onShow} className="min-w-0 flex-1 rounded-md py-1.5 pl-6 text-left">
        <span className="flex items-center gap-2">
          <span className={cn("min-w-0 truncate text-[13px]", (off || !tool.enabled) && "text-muted")}>{tool.name}</span>
          <span className="flex shrink-0 items-center gap-1">
            <RendererIcon type={tool.renderer?.type} />
            <Marks tool={tool} />
          </span>
        </span>
        <span className="block truncate text-[13px] text-muted">{firstLine(tool.description)}</span>
        {tool.problem && <span className="block text-[13px] text-bad">{tool.problem}</span>}
      </button>
      <Switch label={tool.name} checked={tool.enabled && !off} disabled={off} onChange={onSwitch} />
    </li>
  );
}

export function Problem({ text }: { text: string }) {
  return (
    <p className="mb-1 flex items-start gap-1.5 px-3 text-[13px] text-bad">
      <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden="true" />
      <span className="min-w-0 break-words">{text}</span>
    </p>
  );
}
