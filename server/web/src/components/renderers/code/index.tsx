import { lazy, Suspense } from "react";
import { Skeleton } from "@/components/ui/States";
import type { CodeEditorProps } from "./CodeEditor";

const Editor = lazy(() => import("./CodeEditor"));
const Merge = lazy(() => import("./MergeEditor"));

/** Code is CodeMirror, loaded when it is first needed. */
export function Code(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Editor {...props} />
    </Suspense>
  );
}

export function MergeCode(props: { theirs: string; mine: string; onChange(text: string): void }) {
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Merge {...props} />
    </Suspense>
  );
}
