import { Package } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { tellFault } from "@/components/ui/Toasts";
import { useUI } from "@/lib/ui";
import { isBundle } from "./consent";
import { useImports } from "./importing";

const Manager = lazy(() => import("./Manager"));
const ImportSheet = lazy(() => import("./ImportSheet"));

/** Toolsets is the toolset manager, and takes bundles that are dropped where nothing else takes files. */
export function Toolsets() {
  const open = useUI((s) => s.toolsets);
  const importing = useImports((s) => s.now !== null);
  return (
    <>
      <DropZone />
      <Suspense fallback={null}>
        {open && <Manager />}
        {importing && <ImportSheet />}
      </Suspense>
    </>
  );
}

const bundleTypes = /^application\/(zip|x-zip-compressed|gzip|x-gzip|x-compressed-tar|x-tar|x-compressed)$/;

/** brings is whether what is dragged looks like bundles: names are told at the drop alone. */
function brings(event: DragEvent): boolean {
  const items = [...(event.dataTransfer?.items ?? [])].filter((i) => i.kind === "file");
  return items.length > 0 && items.every((i) => bundleTypes.test(i.type));
}

export function DropZone() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    // After the panels' own: what the composer, the files or the documents take is theirs.
    const drag = (event: DragEvent) => {
      if (event.defaultPrevented || !brings(event)) {
        setOver(false);
        if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); // see drop
        return;
      }
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      setOver(false);
      if (event.defaultPrevented) return;
      // A file that nobody took must not replace the page.
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0 || !files.every((f) => isBundle(f.name))) {
        if (brings(event)) tellFault("That can't be imported", new Error("a toolset is a .zip, .tar.gz or .tgz file"));
        return;
      }
      useImports.getState().begin(files);
    };
    window.addEventListener("dragover", drag);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", drag);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-50 flex items-center justify-center bg-black/60 p-6">
      <p className="flex items-center gap-3 rounded-xl border-2 border-dashed border-accent bg-surface px-6 py-5 text-[15px]">
        <Package className="size-5" aria-hidden="true" />
        Drop to see what this toolset wants. Nothing is installed before you say so.
      </p>
    </div>
  );
}
