import { useEffect, useState } from "react";
import { relativeTime } from "@/lib/time";

/** RelativeTime is a time as people say it, kept true while it is shown. */
export function RelativeTime({ at, className }: { at: string; className?: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className={className}>
      {relativeTime(at, now)}
    </time>
  );
}
