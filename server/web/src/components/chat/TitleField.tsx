import { useEffect, useRef, useState } from "react";

/** TitleField is a chat's title while it is changed in its place. It tells null where nothing is to change. */
export function TitleField({ title, onDone }: { title: string; onDone(title: string | null): void }) {
  const [text, setText] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  const over = useRef(false); // Enter and the blur that follows it are one end
  useEffect(() => {
    // A menu that closes gives the focus back to its button first.
    const timer = setTimeout(() => field.current?.select(), 0);
    return () => clearTimeout(timer);
  }, []);
  function done(keep: boolean) {
    if (over.current) return;
    over.current = true;
    const now = text.trim();
    onDone(keep && now && now !== title ? now : null);
  }
  return (
    <input
      ref={field}
      aria-label="Title"
      dir="auto"
      value={text}
      maxLength={200}
      onChange={(e) => setText(e.target.value)}
      onBlur={() => done(true)}
      onClick={(e) => e.stopPropagation()}
      onKeyDown={(e) => {
        e.stopPropagation();
        if (e.key === "Enter" && !e.nativeEvent.isComposing) done(true);
        if (e.key === "Escape") done(false);
      }}
      className="h-7 w-full min-w-0 rounded-md border border-border bg-bg px-2 text-sm"
    />
  );
}
