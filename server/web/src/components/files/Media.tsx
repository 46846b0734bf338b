import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Failed, Skeleton } from "@/components/ui/States";
import { linkTo } from "@/lib/api/client";
import { bytes } from "@/lib/time";
import { baseName } from "./kinds";
import { filePath, readBlob, type FilePart, type FileState } from "./workspaceApi";

interface MediaProps {
  chatId: string;
  path: string;
  state: FileState;
  /** the beginning of it, or all */
  part: FilePart;
  /** told where it isn't what its first bytes say */
  onBroken(): void;
}

/** ImageFile shows an image, under the type that its own bytes have. */
export function ImageFile({ chatId, path, state, part, type, onBroken }: MediaProps & { type: string }) {
  const [rest, setRest] = useState<{ content?: Blob; failed?: unknown } | null>(null);
  const whole = part.bytes.length >= part.size;
  const key = `${state.manifest ?? ""} ${state.tool_call_id ?? ""} ${part.sha256}`;
  useEffect(() => {
    if (whole) return;
    const stop = new AbortController();
    readBlob(chatId, path, state, stop.signal).then(
      (content) => !stop.signal.aborted && setRest({ content }),
      (failed: unknown) => !stop.signal.aborted && setRest({ failed }),
    );
    return () => stop.abort();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- state is a new object each time; key says what is in it
  }, [chatId, path, key, whole]);
  if (rest?.failed) return <Failed what={`${baseName(path)} could not be read`} error={rest.failed} />;
  const content = whole ? part.bytes : rest?.content;
  if (!content) return <Skeleton lines={6} />;
  return <Picture name={baseName(path)} content={content} type={type} size={part.size} onBroken={onBroken} />;
}

/** Picture is an image from bytes that are here. */
export function Picture({ name, content, type, size, onBroken }: { name: string; content: BlobPart; type: string; size: number; onBroken(): void }) {
  const image = useRef<HTMLImageElement>(null);
  const [shape, setShape] = useState("");
  useEffect(() => {
    const address = URL.createObjectURL(new Blob([content], { type }));
    if (image.current) image.current.src = address;
    return () => URL.revokeObjectURL(address);
  }, [content, type]);
  return (
    <figure className="flex h-full min-h-0 flex-col">
      <div className="flex min-h-0 flex-1 items-center justify-center bg-[repeating-conic-gradient(var(--fettle-surface)_0_25%,var(--fettle-bg)_0_50%)] bg-size-[16px_16px] p-3">
        <img
          ref={image}
          alt={name}
          className="max-h-full max-w-full object-contain"
          onError={onBroken}
          onLoad={(e) => setShape(`${e.currentTarget.naturalWidth} × ${e.currentTarget.naturalHeight}`)}
        />
      </div>
      <figcaption className="shrink-0 border-t border-border bg-surface px-3 py-1.5 text-[13px] text-muted">{[shape, bytes(size)].filter(Boolean).join(", ")}</figcaption>
    </figure>
  );
}

/** MediaFile plays a sound or a film. The browser asks for the parts that it needs. */
export function MediaFile({ chatId, path, state, part, kind, onBroken }: MediaProps & { kind: "audio" | "video" }) {
  const { manifest, tool_call_id } = state;
  const at = filePath(chatId, path, { manifest, tool_call_id });
  const link = useQuery({ queryKey: ["link", at], queryFn: () => linkTo(at), staleTime: Infinity, gcTime: 0 });
  const renewed = useRef(false);
  if (link.isPending) return <Skeleton lines={2} />;
  if (link.isError) return <Failed what={`${baseName(path)} can't be played`} error={link.error} onRetry={() => void link.refetch()} />;
  const own = {
    src: link.data,
    controls: true,
    preload: "metadata",
    "aria-label": baseName(path),
    onLoadedMetadata: () => (renewed.current = false),
    // The link may have run out, or its server was started anew: a new one tells.
    onError: () => {
      if (renewed.current) onBroken();
      else void link.refetch();
      renewed.current = true;
    },
  } as const;
  return (
    <figure className="flex h-full min-h-0 flex-col" key={part.sha256}>
      <div className="flex min-h-0 flex-1 items-center justify-center p-3">
        {kind === "video" ? (
          // What a tool left has no captions to give.
          // eslint-disable-next-line jsx-a11y/media-has-caption
          <video {...own} playsInline className="max-h-full max-w-full bg-black" />
        ) : (
          // eslint-disable-next-line jsx-a11y/media-has-caption
          <audio {...own} className="w-full max-w-120" />
        )}
      </div>
      <figcaption className="shrink-0 border-t border-border bg-surface px-3 py-1.5 text-[13px] text-muted">{bytes(part.size)}</figcaption>
    </figure>
  );
}
