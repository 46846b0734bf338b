import { useEffect, useState } from "react";

/** TimeLeft says when a question is denied by itself. */
export function TimeLeft({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1000));
  return <span className="shrink-0 text-xs text-muted tabular-nums">{timeLeft(seconds)}</span>;
}

function timeLeft(seconds: number): string {
  if (seconds === 0) return "time is up";
  return seconds >= 90 ? `denied in ${Math.round(seconds / 60)} min` : `denied in ${seconds} s`;
}
