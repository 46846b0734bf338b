import { useState } from "react";
import { Code } from "@/components/renderers/code";
import { Button } from "@/components/ui/Button";
import { Choice } from "@/components/ui/Choice";
import { Markdown } from "@/components/ui/Markdown";
import { cn } from "@/lib/cn";
import { bytes } from "@/lib/time";
import { ConflictDialog } from "./ConflictDialog";
import { useEditedFile } from "./useEditedFile";

export interface TextFileProps {
  chatId: string;
  path: string;
  text: string;
  sha256: string;
  /** read only: an old state, or a renderer that isn't editable */
  readOnly?: boolean;
  language?: string;
  /** Markdown has a preview, beside the text where there is room; this is what is seen first */
  markdown?: "source" | "preview";
  /** bytes that aren't loaded yet, and how more come */
  more?: { left: number; load(): void; loading: boolean };
}

const maxEdited = 4_000_000;

/** TextFile shows a text of the workspace, and saves what a person makes of it. */
export function TextFile({ chatId, path, text, sha256, readOnly = false, language, markdown, more }: TextFileProps) {
  const file = useEditedFile(chatId, path, text, sha256);
  // A part of a file can't be saved: the rest would be gone. And each key would take too long in a large one.
  const fixed = readOnly || more !== undefined || text.length > maxEdited;
  const shown = fixed ? text : file.text;
  return (
    <div className="flex h-full min-h-0 flex-col">
      {!fixed && file.dirty && (
        <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-border bg-surface px-3 py-1.5 text-[13px]">
          <p role="status" className="min-w-0 flex-1 text-muted">
            {file.behind ? "Not saved, and the file was changed meanwhile" : "Not saved"}
          </p>
          <Button size="small" look="quiet" onClick={file.discard}>
            Discard
          </Button>
          <Button size="small" look="accent" disabled={file.saving} onClick={() => void file.save()}>
            {file.saving ? "Saving" : "Save"}
          </Button>
        </div>
      )}
      <div className="min-h-0 flex-1">
        {markdown ? (
          <MarkdownFile text={shown} path={path} first={markdown === "source" ? "Edit" : "Preview"} readOnly={fixed} onChange={file.change} onSave={() => void file.save()} />
        ) : (
          <Code
            key={fixed ? "read" : "edit"}
            value={shown}
            label={path}
            path={path}
            language={language}
            readOnly={fixed}
            onChange={file.change}
            onSave={() => void file.save()}
          />
        )}
      </div>
      {more && <LoadMore {...more} />}
      {file.conflict && (
        <ConflictDialog
          path={path}
          conflict={file.conflict}
          mine={file.text}
          saving={file.saving}
          onChange={file.change}
          onSave={() => void file.saveOver()}
          onDiscard={file.discard}
          onClose={file.closeConflict}
        />
      )}
    </div>
  );
}

export function LoadMore({ left, load, loading }: { left: number; load(): void; loading: boolean }) {
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-t border-border bg-surface px-3 py-1.5 text-[13px]">
      <p className="min-w-0 flex-1 text-muted">{bytes(left)} more. A part of a file can be read, not edited.</p>
      <Button size="small" disabled={loading} onClick={load}>
        {loading ? "Loading" : "Load more"}
      </Button>
    </div>
  );
}

const views = ["Edit", "Both", "Preview"] as const;
type View = (typeof views)[number];

/** MarkdownFile is a text and what it looks like: one of them, or both where there is room. */
export function MarkdownFile({
  text,
  path,
  first = "Preview",
  readOnly,
  onChange,
  onSave,
}: {
  text: string;
  path?: string;
  first?: View;
  readOnly: boolean;
  onChange?(text: string): void;
  onSave?(): void;
}) {
  const [view, setView] = useState(first);
  return (
    <div className="@container flex h-full min-h-0 flex-col">
      <Choice
        label="View"
        className="shrink-0 border-b border-border px-2 py-1"
        options={views.map((name) => ({ id: name, label: name === "Edit" && readOnly ? "Source" : name, className: name === "Both" ? "@max-[559px]:hidden" : undefined }))}
        value={view}
        onChange={setView}
      />
      <div className="flex min-h-0 flex-1">
        {view !== "Preview" && (
          <div className={cn("min-w-0 flex-1", view === "Both" && "border-r border-border")}>
            <Code value={text} label={path ?? "Source"} language="markdown" path={path} wrap readOnly={readOnly} onChange={onChange} onSave={onSave} />
          </div>
        )}
        {view !== "Edit" && (
          // It scrolls, so the keyboard has to reach it.
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <div tabIndex={0} role="region" aria-label="Preview" className={cn("scroll-y min-w-0 flex-1 p-4", view === "Both" && "hidden @min-[560px]:block")} dir="auto">
            {text.trim() ? <Markdown text={text} file={path} /> : <p className="text-muted">Nothing is written here yet.</p>}
          </div>
        )}
      </div>
    </div>
  );
}
