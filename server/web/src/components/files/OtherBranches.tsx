import { useQuery } from "@tanstack/react-query";
import { EllipsisVertical, FolderOpen, GitBranch, GitCompare, RotateCcw } from "lucide-react";
import { Menu } from "@/components/ui/Menu";
import { RelativeTime } from "@/components/ui/RelativeTime";
import { api, unwrap } from "@/lib/api/client";
import type { WorkspaceState } from "./workspaceApi";

/** OtherBranches are the files that the chat's other branches ended with, where they are others than those above. */
export function OtherBranches({
  chatId,
  known,
  onTree,
  onDiff,
  onRestore,
}: {
  chatId: string;
  known: WorkspaceState[];
  onTree(manifestId: string): void;
  onDiff(branch: string, manifestId: string): void;
  onRestore(manifestId: string): void;
}) {
  const branches = useQuery({
    queryKey: ["workspace", chatId, "branches"],
    queryFn: async ({ signal }) => unwrap(await api.GET("/api/chats/{chat}/branches", { params: { path: { chat: chatId } }, signal })),
  });
  const listed = new Set(known.map((state) => state.id));
  const others = (branches.data?.branches ?? []).flatMap((b) => (!b.active && b.manifest_id && !listed.has(b.manifest_id) ? [{ ...b, manifest: b.manifest_id }] : []));
  if (others.length === 0) return null;
  return (
    <section aria-label="Other branches" className="border-t border-border">
      <h4 className="px-3 pt-3 pb-1 text-xs text-muted">Where other branches of the chat ended</h4>
      <ul>
        {others.map(({ manifest, number, title, updated_at, added, modified, removed }) => (
          <li key={manifest} className="flex h-12 items-center pr-1 hover:bg-surface">
            <GitBranch className="mx-2 size-4 shrink-0 text-muted" aria-hidden="true" />
            <button type="button" onClick={() => onTree(manifest)} className="flex h-full min-w-0 flex-1 flex-col justify-center px-1 text-left outline-offset-[-2px]">
              <span className="w-full truncate text-[13px]">
                <bdi>{title || `Branch ${number}`}</bdi>
              </span>
              <span className="flex gap-2 text-xs text-muted">
                <RelativeTime at={updated_at} />
                {added > 0 && <span className="text-good">+{added}</span>}
                {modified > 0 && <span className="text-warn">~{modified}</span>}
                {removed > 0 && <span className="text-bad">−{removed}</span>}
              </span>
            </button>
            <Menu
              items={[
                { label: "The files as they were", icon: <FolderOpen />, onSelect: () => onTree(manifest) },
                { label: "Compare with the files as they are", icon: <GitCompare />, onSelect: () => onDiff(title || `branch ${number}`, manifest) },
                { label: "Bring these files back", icon: <RotateCcw />, onSelect: () => onRestore(manifest) },
              ]}
            >
              <button type="button" aria-label={`More about branch ${number}`} className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-raised hover:text-ink">
                <EllipsisVertical className="size-4" />
              </button>
            </Menu>
          </li>
        ))}
      </ul>
    </section>
  );
}
