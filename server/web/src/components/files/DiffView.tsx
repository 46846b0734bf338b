import { GitCompare } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { shownChanges, stat } from "./changes";
import { FileDiff } from "./FileDiff";
import { useDiff } from "./useWorkspace";

export interface DiffViewProps {
  chatId: string;
  /** states by their names; without `from` what came before `to`, without `to` the files as they are */
  from?: string;
  to?: string;
  /** one file or folder alone */
  path?: string;
}

// Each drawn file is a few elements; a diff of thousands is read in parts.
const page = 50;
// These are open at first.
const few = 5;

/** DiffView is what differs between two states, file by file. */
export default function DiffView({ chatId, from, to, path }: DiffViewProps) {
  const diff = useDiff(chatId, from, to);
  const [most, setMost] = useState(page);
  const changes = useMemo(() => {
    const all = shownChanges(diff.data?.changes ?? []);
    return path ? all.filter((c) => c.path === path || c.from === path || c.path.startsWith(path + "/")) : all;
  }, [diff.data, path]);
  if (diff.isError && !diff.data) return <Failed what="The states could not be compared" error={diff.error} onRetry={() => void diff.refetch()} />;
  if (!diff.data) return <Skeleton lines={8} />;
  if (changes.length === 0) {
    return (
      <Empty icon={<GitCompare />} title="Nothing differs">
        {path ? `${path} is the same in both states.` : "Both states have the same files."}
      </Empty>
    );
  }
  return (
    <div className="scroll-y h-full min-h-0">
      <p className="border-b border-border px-3 py-2 text-[13px] text-muted">
        {stat(changes)}
        {diff.data.truncated && ", and more that isn't listed"}
      </p>
      <ul>
        {changes.slice(0, most).map((change, i) => (
          <FileDiff key={`${diff.data.from ?? ""} ${diff.data.to} ${change.path}`} chatId={chatId} change={change} from={diff.data.from} to={diff.data.to} open={changes.length <= few || i === 0} />
        ))}
      </ul>
      {changes.length > most && (
        <div className="p-3">
          <Button size="small" onClick={() => setMost(most + page * 4)}>
            Show more of {(changes.length - most).toLocaleString("en")}
          </Button>
        </div>
      )}
    </div>
  );
}
