const steps: [seconds: number, unit: string][] = [
  [60, "second"],
  [3_600, "minute"],
  [86_400, "hour"],
  [604_800, "day"],
];

/** relativeTime is a time as people say it: "3 minutes ago", or its date. */
export function relativeTime(at: string, now = Date.now()): string {
  const seconds = Math.floor((now - Date.parse(at)) / 1000);
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 45) return "just now";
  let size = 1;
  for (const [limit, unit] of steps) {
    if (seconds < limit) {
      const n = Math.max(1, Math.floor(seconds / size));
      return `${n} ${unit}${n === 1 ? "" : "s"} ago`;
    }
    size = limit;
  }
  return new Date(at).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

/** duration is a time that something took: "120 ms", "3.4 s", "2 min 5 s". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

const units = ["kB", "MB", "GB", "TB"];

/** bytes is a size: "812 B", "1.4 kB". */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  let value = n / 1000;
  let unit = 0;
  // 999.5 would be written as 1000.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
