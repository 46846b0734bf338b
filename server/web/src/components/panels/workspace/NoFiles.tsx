import { FolderOpen } from "lucide-react";
import { Empty } from "@/components/ui/States";

/** NoFiles stands for the files of a chat that has not begun. */
export function NoFiles() {
  return (
    <Empty icon={<FolderOpen />} title="No files yet">
      A chat has files, and a timeline of them, once something was asked in it.
    </Empty>
  );
}
