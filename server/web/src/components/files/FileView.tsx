import { Download, FileQuestion } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { bytes } from "@/lib/time";
import { download } from "./download";
import { baseName, hexLines, imageType, isMarkdown, textOf } from "./kinds";
import { TextFile } from "./TextFile";
import type { TreeFile } from "./tree";
import { useFilePart } from "./useWorkspace";
import { firstPart, readBlob, type FileState } from "./workspaceApi";

export interface FileViewProps {
  chatId: string;
  path: string;
  state: FileState;
  readOnly: boolean;
  /** what the tree knows of it, if it does */
  file?: TreeFile;
  language?: string;
  /** Markdown, whatever its name is, seen first as what it looks like or as it is written */
  markdown?: "source" | "preview";
}

const maxImage = 32 << 20;

/** FileView shows a file in the way its content can be shown. */
export function FileView(props: FileViewProps) {
  const { file, path } = props;
  if (file && file.kind !== "file" && file.kind !== "executable") return <Other file={file} />;
  if (imageType(path) && (file?.size ?? 0) <= maxImage) return <ImageFile {...props} />;
  return <Content {...props} />;
}

/** Other is an entry without content: a link, or what isn't kept. */
function Other({ file }: { file: TreeFile }) {
  if (file.kind === "link")
    return (
      <Empty icon={<FileQuestion />} title="A link">
        It leads to <code className="font-mono break-all">{file.target}</code>
      </Empty>
    );
  return (
    <Empty icon={<FileQuestion />} title="Its content isn't kept">
      {file.reason || `It is a ${file.kind} entry.`}
    </Empty>
  );
}

function Content({ chatId, path, state, readOnly, file, language, markdown = isMarkdown(path) ? "preview" : undefined }: FileViewProps) {
  const [limit, setLimit] = useState(firstPart);
  const part = useFilePart(chatId, path, state, limit, file?.sha256);
  const { data } = part;
  const whole = data ? data.bytes.length >= data.size : false;
  const text = useMemo(() => (data ? textOf(data.bytes, whole) : null), [data, whole]);
  if (part.isError) return <Failed what={`${baseName(path)} could not be read`} error={part.error} onRetry={() => void part.refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  if (text === null) return <Binary chatId={chatId} path={path} state={state} size={data.size} content={data.bytes} />;
  return (
    <TextFile
      chatId={chatId}
      path={path}
      text={text}
      sha256={data.sha256}
      readOnly={readOnly}
      language={language}
      markdown={markdown}
      more={whole ? undefined : { left: data.size - data.bytes.length, load: () => setLimit(limit * 4), loading: part.isFetching }}
    />
  );
}

function Binary({ chatId, path, state, size, content }: { chatId: string; path: string; state: FileState; size: number; content: Uint8Array }) {
  const lines = hexLines(content);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-border bg-surface px-3 py-1.5 text-[13px]">
        <p className="min-w-0 flex-1">Binary, {bytes(size)}</p>
        <Button size="small" onClick={() => void download(chatId, path, state)}>
          <Download className="size-4" aria-hidden="true" />
          Download
        </Button>
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <pre tabIndex={0} aria-label="Its first bytes" className="scroll-y min-h-0 flex-1 overflow-x-auto p-3 font-mono text-xs leading-5 text-muted">
        {lines.join("\n")}
        {size > 512 ? "\n…" : ""}
      </pre>
    </div>
  );
}

function ImageFile(props: FileViewProps) {
  const { chatId, path, state, file } = props;
  const [shown, setShown] = useState<{ address: string; failed?: unknown } | null>(null);
  const [broken, setBroken] = useState(false);
  const [size, setSize] = useState("");
  const key = `${state.manifest ?? ""} ${state.tool_call_id ?? ""} ${file?.sha256 ?? ""}`;
  useEffect(() => {
    const stop = new AbortController();
    let address = "";
    readBlob(chatId, path, state, stop.signal).then(
      (blob) => {
        if (stop.signal.aborted) return;
        address = URL.createObjectURL(new Blob([blob], { type: imageType(path) }));
        setShown({ address });
      },
      (failed: unknown) => !stop.signal.aborted && setShown({ address: "", failed }),
    );
    return () => {
      stop.abort();
      if (address) URL.revokeObjectURL(address);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- state is a new object each time; key says what is in it
  }, [chatId, path, key]);
  // What calls itself an image and isn't is shown as what it is.
  if (broken) return <Content {...props} />;
  if (shown?.failed) return <Failed what={`${baseName(path)} could not be read`} error={shown.failed} />;
  if (!shown) return <Skeleton lines={6} />;
  return (
    <figure className="flex h-full min-h-0 flex-col">
      <div className="flex min-h-0 flex-1 items-center justify-center bg-[repeating-conic-gradient(var(--fettle-surface)_0_25%,var(--fettle-bg)_0_50%)] bg-size-[16px_16px] p-3">
        <img
          src={shown.address}
          alt={baseName(path)}
          className="max-h-full max-w-full object-contain"
          onError={() => setBroken(true)}
          onLoad={(e) => setSize(`${e.currentTarget.naturalWidth} × ${e.currentTarget.naturalHeight}`)}
        />
      </div>
      <figcaption className="shrink-0 border-t border-border bg-surface px-3 py-1.5 text-[13px] text-muted">
        {[size, file ? bytes(file.size) : ""].filter(Boolean).join(", ")}
      </figcaption>
    </figure>
  );
}
