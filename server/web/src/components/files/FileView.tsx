import { Download, FileQuestion } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { Button } from "@/components/ui/Button";
import { Choice } from "@/components/ui/Choice";
import { Empty, Failed, Skeleton } from "@/components/ui/States";
import { bytes } from "@/lib/time";
import { download } from "./download";
import { ImageFile, MediaFile, Picture } from "./Media";
import { baseName, hexLines, isMarkdown, isSvg, sniff, textOf } from "./kinds";
import { TextFile } from "./TextFile";
import type { TreeFile } from "./tree";
import { useFilePart } from "./useWorkspace";
import { firstPart, type FilePart, type FileState } from "./workspaceApi";

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

/** FileView shows a file in the way its content can be shown. */
export function FileView(props: FileViewProps) {
  const { file } = props;
  if (file && file.kind !== "file" && file.kind !== "executable") return <Other file={file} />;
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
  const part = useFilePart(chatId, path, state, file?.size === 0 ? 0 : limit, file?.sha256);
  const { data } = part;
  const whole = data ? data.bytes.length >= data.size : false;
  const text = useMemo(() => (data ? textOf(data.bytes, whole) : null), [data, whole]);
  if (part.isError) return <Failed what={`${baseName(path)} could not be read`} error={part.error} onRetry={() => void part.refetch()} />;
  if (!data) return <Skeleton lines={8} />;
  if (text === null || sniff(data.bytes, path)) return <BinaryFile chatId={chatId} path={path} state={state} part={data} />;
  if (isSvg(path) && whole) return <SvgFile chatId={chatId} path={path} text={text} sha256={data.sha256} readOnly={readOnly} bytes={data.bytes} />;
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

const maxImage = 32 << 20;

/** BinaryFile shows what a browser can show of a binary, else its first bytes. */
function BinaryFile({ chatId, path, state, part }: { chatId: string; path: string; state: FileState; part: FilePart }) {
  const [broken, setBroken] = useState(false);
  const found = sniff(part.bytes, path);
  const own = { chatId, path, state };
  const size = bytes(part.size);
  if (found && broken) return <Note {...own} title="It can't be shown">It begins as {found.type} does, {size}, but this browser can make nothing of the rest.</Note>;
  switch (found?.kind) {
    case "image":
      if (part.size > maxImage) return <Note {...own} title="Too large to be shown">An image of {size}. Downloaded, it can be opened by another program.</Note>;
      return <ImageFile {...own} part={part} type={found.type} onBroken={() => setBroken(true)} />;
    case "audio":
    case "video":
      return <MediaFile {...own} part={part} kind={found.kind} onBroken={() => setBroken(true)} />;
    case "pdf":
      return (
        <Note {...own} title={`A PDF, ${size}`}>
          Browsers show PDFs only outside of the sandbox that this chat’s files are kept in, so it isn’t opened here. Download it to read it.
        </Note>
      );
  }
  return <Bytes {...own} size={part.size} content={part.bytes} />;
}

function Note({ chatId, path, state, title, children }: { chatId: string; path: string; state: FileState; title: string; children: ReactNode }) {
  return (
    <Empty
      icon={<FileQuestion />}
      title={title}
      action={
        <Button onClick={() => void download(chatId, path, state)}>
          <Download className="size-4" aria-hidden="true" />
          Download
        </Button>
      }
    >
      {children}
    </Empty>
  );
}

/** SvgFile is a picture and the text that it is written as. */
function SvgFile({ bytes: content, ...text }: { chatId: string; path: string; text: string; sha256: string; readOnly: boolean; bytes: Uint8Array<ArrayBuffer> }) {
  const [view, setView] = useState<"Picture" | "Source">("Picture");
  const [broken, setBroken] = useState(false);
  const shown = broken ? "Source" : view;
  return (
    <div className="flex h-full min-h-0 flex-col">
      {!broken && <Choice label="View" className="shrink-0 border-b border-border px-2 py-1" options={[{ id: "Picture", label: "Picture" }, { id: "Source", label: "Source" }]} value={view} onChange={setView} />}
      <div className="min-h-0 flex-1">
        {shown === "Picture" ? <Picture name={baseName(text.path)} content={content} type="image/svg+xml" size={content.length} onBroken={() => setBroken(true)} /> : <TextFile {...text} />}
      </div>
    </div>
  );
}

function Bytes({ chatId, path, state, size, content }: { chatId: string; path: string; state: FileState; size: number; content: Uint8Array }) {
  const lines = hexLines(content);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-border bg-surface px-3 py-1.5 text-[13px]">
        <p className="min-w-0 flex-1">Binary, {bytes(size)}{size > 512 ? "; its first 512 bytes" : ""}</p>
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
