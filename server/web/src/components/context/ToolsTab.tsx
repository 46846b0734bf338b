import { Package, Wrench } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { Button } from "@/components/ui/Button";
import { SearchField } from "@/components/ui/SearchField";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import type { ListedTool } from "@/lib/api/client";
import { useUI } from "@/lib/ui";
import { filterGroups } from "./filter";
import { useTools } from "./queries";
import { ToolGroupList } from "./ToolGroupList";
import { ToolSheet } from "./ToolSheet";

/** ToolsTab is document 004's tool picker. */
export function ToolsTab() {
  const tools = useTools();
  const [search, setSearch] = useState("");
  const sought = useDeferredValue(search);
  const [shown, setShown] = useState<ListedTool | null>(null);
  const setToolsets = useUI((s) => s.setToolsets);
  const groups = filterGroups(tools.data ?? [], sought);

  return (
    <div className="flex h-full flex-col">
      <div className="flex shrink-0 items-center gap-2 p-3">
        <SearchField label="Search tools" value={search} onChange={setSearch} />
        <Button onClick={() => setToolsets(true)}>
          <Package className="size-4" aria-hidden="true" />
          Toolsets
        </Button>
      </div>
      <div className="scroll-y min-h-0 flex-1 pb-3">
        {tools.isPending && <Skeleton lines={9} />}
        {tools.isError && <Failed error={tools.error} what="The tools can't be listed" onRetry={() => void tools.refetch()} />}
        {tools.data && groups.length === 0 && (
          <Empty icon={<Wrench />} title={sought ? "No tool has that" : "No tools"}>
            {sought ? `Nothing in the names and descriptions matches “${sought}”.` : "Import a toolset, or add an MCP server."}
          </Empty>
        )}
        {groups.map((group) => (
          <ToolGroupList key={group.kind + group.id} group={group} onShow={setShown} />
        ))}
      </div>
      <ToolSheet tool={shown} onClose={() => setShown(null)} />
    </div>
  );
}
