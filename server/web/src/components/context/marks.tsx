import { AppWindow, Blocks, FileCode2, FileText, Frame, Globe, PencilLine, ShieldQuestion, SquareTerminal, type LucideIcon } from "lucide-react";
import { Tooltip } from "@/components/ui/Tooltip";
import type { ListedTool } from "@/lib/api/client";

export interface Mark {
  id: "confirm" | "shell" | "web" | "writes";
  text: string;
}

type Marked = Pick<ListedTool, "requires_confirmation" | "reach" | "category">;

/** marksOf returns what the user should know of a tool before enabling it. */
export function marksOf({ requires_confirmation, reach, category }: Marked): Mark[] {
  const marks: Mark[] = [];
  if (requires_confirmation) marks.push({ id: "confirm", text: "Asks you before each call" });
  if (category === "shell") marks.push({ id: "shell", text: "Runs commands" });
  else if (reach.writes && reach.contained) marks.push({ id: "writes", text: "May change the chat’s workspace" });
  else if (reach.destructive) marks.push({ id: "writes", text: "May change or remove things" });
  if (reach.network === "hosts") marks.push({ id: "web", text: `Connects to ${(reach.hosts ?? []).join(", ")}` });
  else if (reach.network) marks.push({ id: "web", text: "Connects to other systems" });
  return marks;
}

/** reachText says what a tool may read, change and connect to, as import and the terminal do. */
export function reachText(reach: ListedTool["reach"]): string {
  return `May ${reach.text}.`;
}

const markIcons: Record<Mark["id"], LucideIcon> = { confirm: ShieldQuestion, shell: SquareTerminal, web: Globe, writes: PencilLine };

const renderers: Record<string, { icon: LucideIcon; text: string }> = {
  code: { icon: FileCode2, text: "Shown as code" },
  document: { icon: FileText, text: "Shown as a document" },
  html: { icon: AppWindow, text: "Shown as a page of its own, isolated" },
  frame: { icon: Frame, text: "Shown in a frame" },
  mcp_app: { icon: Blocks, text: "Shown as the server's app, isolated" },
};

/** rendererText says how a tool's calls are shown. */
export function rendererText(type: string | undefined): string {
  return type ? (renderers[type]?.text ?? `Shown by ${type}`) : "Shown as text";
}

function Icon({ icon: Base, text, className }: { icon: LucideIcon; text: string; className?: string }) {
  return (
    <Tooltip text={text}>
      <span role="img" aria-label={text} className={className}>
        <Base className="size-3.5" aria-hidden="true" />
      </span>
    </Tooltip>
  );
}

export function RendererIcon({ type }: { type?: string }) {
  const known = type ? renderers[type] : undefined;
  return known ? <Icon icon={known.icon} text={known.text} className="text-muted" /> : null;
}

export function Marks({ tool }: { tool: Marked }) {
  return (
    <>
      {marksOf(tool).map((mark) => (
        <Icon key={mark.id} icon={markIcons[mark.id]} text={mark.text} className={mark.id === "confirm" ? "text-accent-ink" : "text-muted"} />
      ))}
    </>
  );
}
