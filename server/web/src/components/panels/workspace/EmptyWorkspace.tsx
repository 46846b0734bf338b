import { Package, SquareStack, Upload, Workflow } from "lucide-react";
import { Button } from "@/components/ui/Button";
import { Empty } from "@/components/ui/States";
import { useUI } from "@/lib/ui";
import { useWorkflows } from "./workflows/useWorkflows";

/** EmptyWorkspace says what goes here, and offers what brings it. */
export function EmptyWorkspace({ onStart }: { onStart(): void }) {
  const workflows = useWorkflows().data?.length ?? 0;
  const { select, setToolsets } = useUI.getState();
  return (
    <Empty
      icon={<SquareStack />}
      title="Results show up here"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          <Button onClick={() => select({ kind: "files" })}>
            <Upload className="size-4" aria-hidden="true" />
            Add files
          </Button>
          {workflows > 0 && (
            <Button onClick={onStart}>
              <Workflow className="size-4" aria-hidden="true" />
              Start a workflow
            </Button>
          )}
          <Button onClick={() => setToolsets(true)}>
            <Package className="size-4" aria-hidden="true" />
            Import a toolset
          </Button>
        </div>
      }
    >
      Tables, reviews, research, pages that tools make, and the files of this chat. What an answer brings is shown by itself.
    </Empty>
  );
}
