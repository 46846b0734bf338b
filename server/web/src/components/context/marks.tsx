import { AppWindow, Blocks, FileCode2, FileText, Frame, Globe, PencilLine, ShieldQuestion, SquareTerminal, type LucideIcon } from "lucide-react";
import { Tooltip } from "@/components/ui/Tooltip";
import type { ListedTool } from "@/lib/api/client";

export interface Mark {
  id: "confirm" | "shell" | "web" | "writes";
  text: string;
}

/** marksOf is what a person should know of a tool before it is on. */
export function marksOf(tool: Pick<ListedTool, "requires_confirmation" | "annotations" | "category">): Mark[] {
  const marks: Mark[] = [];
  if (tool.requires_confirmation) marks.push({ id: "confirm", text: "Asks you before each call" });
  if (tool.category === "shell") marks.push({ id: "shell", text: "Runs commands" });
  else if (!tool.annotations.read_only && tool.annotations.destructive) marks.push({ id: "writes", text: "May change or remove things" });
  if (tool.annotations.open_world) marks.push({ id: "web", text: "Reaches beyond this machine" });
  return marks;
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

export function Marks({ tool }: { tool: Pick<ListedTool, "requires_confirmation" | "annotations" | "category"> }) {
  return (
    <>
      {marksOf(tool).map((mark) => (
        <Icon key={mark.id} icon={markIcons[mark.id]} text={mark.text} className={mark.id === "confirm" ? "text-accent-ink" : "text-muted"} />
      ))}
    </>
  );
}
