import { describe, expect, it } from "vitest";
import { unified } from "./hunks";

const text = (d: ReturnType<typeof unified>) =>
  d.hunks.flatMap((h) => [h.head, ...h.lines.map((l) => l.sign + l.text + (l.open ? "\\" : ""))]).join("\n");

describe("unified", () => {
  it("shows a change with three lines around it", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(text(unified(before, before.replace("5", "five")))).toBe("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8");
  });
  it("joins changes whose surroundings touch, and parts those that don't", () => {
    const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join("\n") + "\n";
    const near = before.replace("line 5\n", "five\n").replace("line 10\n", "ten\n");
    expect(unified(before, near).hunks).toHaveLength(1);
    const far = before.replace("line 5\n", "five\n").replace("line 30\n", "thirty\n");
    expect(unified(before, far).hunks.map((h) => h.head)).toEqual(["@@ -2,7 +2,7 @@", "@@ -27,7 +27,7 @@"]);
  });
  it("shows new, removed and emptied files whole", () => {
    expect(text(unified("", "a\nb\n"))).toBe("@@ -0,0 +1,2 @@\n+a\n+b");
    expect(text(unified("a\n", ""))).toBe("@@ -1,1 +0,0 @@\n-a");
    expect(unified("", "").hunks).toEqual([]);
  });
  it("adds at the end and takes away at the beginning", () => {
    expect(text(unified("a\nb\n", "a\nb\nc\n"))).toBe("@@ -1,2 +1,3 @@\n a\n b\n+c");
    expect(text(unified("a\nb\nc\n", "b\nc\n"))).toBe("@@ -1,3 +1,2 @@\n-a\n b\n c");
  });
  it("tells where a file has no end of line", () => {
    expect(text(unified("a\nb\n", "a\nb"))).toBe("@@ -1,2 +1,2 @@\n a\n-b\n+b\\");
  });
  it("counts lines, and leaves out what nobody reads", () => {
    const many = Array.from({ length: 500 }, (_, i) => `${i}`).join("\n") + "\n";
    const d = unified("", many, 100);
    expect([d.added, d.removed, d.cut, d.hunks[0]?.lines.length]).toEqual([500, 0, 400, 100]);
  });
  it("gives up exactness before it keeps the page busy", () => {
    const noise = (seed: number) => Array.from({ length: 20_000 }, (_, i) => ((i * seed) % 9973).toString(36)).join("\n") + "\n";
    const start = performance.now();
    const d = unified(noise(7), noise(11));
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(d.added).toBeGreaterThan(0);
  });
});

/** applied is the text that a patch makes of another. */
function applied(before: string, d: ReturnType<typeof unified>): string {
  const all = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const out: string[] = [];
  let at = 0;
  let open = before !== "" && !before.endsWith("\n");
  for (const hunk of d.hunks) {
    const [, from = "0", count = "0"] = /^@@ -(\d+),(\d+)/.exec(hunk.head) ?? [];
    const start = Number(count) === 0 ? Number(from) : Number(from) - 1;
    out.push(...all.slice(at, start));
    at = start;
    for (const line of hunk.lines) {
      if (line.sign !== "+") expect(all[at++]).toBe(line.text);
      if (line.sign !== "-") out.push(line.text);
      if (line.sign === "-" && line.open) open = false;
      if (line.sign === "+" && line.open) open = true;
    }
  }
  out.push(...all.slice(at));
  return out.length === 0 ? "" : out.join("\n") + (open ? "" : "\n");
}

it("is a patch that makes the one text of the other, whatever they are", () => {
  let seed = 1;
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 400; round++) {
    const before = Array.from({ length: random(30) }, () => "abcd"[random(4)] ?? "");
    const after = before.flatMap((l) => (random(5) === 0 ? [] : random(6) === 0 ? [l, "x"] : [l]));
    const a = before.length ? before.join("\n") + (random(3) ? "\n" : "") : "";
    const b = after.length ? after.join("\n") + (random(3) ? "\n" : "") : "";
    expect(applied(a, unified(a, b)), JSON.stringify([a, b])).toBe(b);
  }
});
