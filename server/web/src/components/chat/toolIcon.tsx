import { Captions, FilePen, FileSearch, FileText, FolderTree, Globe, Search, Terminal, Wrench, type LucideIcon } from "lucide-react";

const icons: Record<string, LucideIcon> = {
  read_file: FileText, write_file: FilePen, edit_file: FilePen, list_files: FolderTree, search_files: FileSearch,
  run_command: Terminal, web_fetch: Globe, web_search: Search, youtube_transcript: Captions,
};

/** ToolIcon is the picture of a tool; one of a toolset's has the same for all. */
export function ToolIcon({ tool, className }: { tool: string; className?: string }) {
  const Icon = icons[tool] ?? Wrench;
  return <Icon className={className} aria-hidden="true" />;
}
