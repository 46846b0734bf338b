import { Clock, FolderTree, List, SquareStack, Workflow, Wrench, type LucideIcon } from "lucide-react";
import { createElement, type ReactNode } from "react";
import { cn } from "@/lib/cn";
import { usePayloadHandler } from "@/lib/payloadHandlers";
import { words } from "@/lib/workspace/read";
import { nameOf } from "@/lib/workspace/workflow";
import { iconOf } from "./icons";
import { configOf, servedFor } from "./types";
import { usePayloadTypes } from "./usePayloadTypes";
import type { Shown } from "./useShown";

interface Title {
  icon: ReactNode;
  title: string;
  label: string;
}

/** useTitle is what stands above what is shown. */
export function useTitle({ mode }: Shown, tab: "result" | "files" | "timeline"): Title {
  const types = usePayloadTypes();
  const type = mode.mode === "payload" ? mode.payload.type : "";
  const handler = usePayloadHandler(type);
  if (tab === "files") return plain(FolderTree, "Files");
  if (tab === "timeline") return plain(Clock, "Timeline");
  switch (mode.mode) {
    case "workflow":
      return plain(Workflow, nameOf(mode.instance.workflow), `Workflow, ${words(mode.instance.state).toLowerCase()}`);
    case "workflow_loading":
      return plain(Workflow, "Workflow", "Starting");
    case "tool":
      return plain(Wrench, mode.tool.tool_name, "Tool call");
    case "tool_history":
      return plain(List, `${mode.history.length} tool ${mode.history.length === 1 ? "call" : "calls"}`, "of an answer");
    case "payload": {
      const served = servedFor(mode.payload, types);
      const look = configOf(type, served);
      const options = served?.render_options ?? handler?.renderOptions;
      const title = mode.payload.title || options?.headerTitle || look.label;
      return {
        icon: (
          <span className={cn("grid size-7 shrink-0 place-items-center rounded-md border", look.bg, look.border, look.color)} style={look.tint ? { color: look.tint } : undefined} aria-hidden="true">
            {createElement(served?.style?.icon || !options?.headerIcon ? look.icon : iconOf(options.headerIcon), { className: "size-4" })}
          </span>
        ),
        title,
        label: title.toLowerCase() === look.label.toLowerCase() ? "" : look.label,
      };
    }
    default:
      return plain(SquareStack, "Workspace");
  }
}

function plain(Icon: LucideIcon, title: string, label = ""): Title {
  return { icon: <Icon className="size-4 shrink-0 text-muted" aria-hidden="true" />, title, label };
}
