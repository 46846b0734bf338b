import { describe, expect, it } from "vitest";
import { hasLongLine, separatorOf } from "@/components/renderers/code/language";
import { draftKey, useDrafts } from "./drafts";
import { extension, hexLines, sniff, textOf } from "./kinds";
import { problemOf } from "./upload";
import { filePath } from "./workspaceApi";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("what a file is", () => {
  it("is text where it is UTF-8, also where its part ends within a character", () => {
    expect(textOf(bytesOf("שלום\n"), true)).toBe("שלום\n");
    const cut = bytesOf("aé").subarray(0, 2);
    expect(textOf(cut, false)).toBe("a");
    expect(textOf(cut, true)).toBeNull();
  });
  it("keeps a mark of byte order, so that saving doesn't take it away", () => {
    expect(textOf(bytesOf("\uFEFFa"), true)).toBe("\uFEFFa");
  });
  it("is binary with a zero byte, or with what UTF-8 has not", () => {
    expect(textOf(new Uint8Array([65, 0, 66]), true)).toBeNull();
    expect(textOf(new Uint8Array([0x89, 0x50, 0x4e, 0x47]), true)).toBeNull();
  });
  it("is shown in hexadecimal digits otherwise", () => {
    expect(hexLines(new Uint8Array([0x89, 0x50, 0x4e, 0x47]))).toEqual(["00000000  89 50 4e 47" + " ".repeat(36) + "  .PNG"]);
    expect(hexLines(new Uint8Array(5_000))).toHaveLength(32);
  });
  it("is an image, a sound, a film or a PDF by its first bytes, whatever it is called", () => {
    const of = (text: string, path = "x.bin") => sniff(Uint8Array.from(text, (c) => c.charCodeAt(0)), path)?.type ?? null;
    expect(of("\x89PNG\r\n\x1a\n...", "a.txt")).toBe("image/png");
    expect(of("\xff\xd8\xff\xe0")).toBe("image/jpeg");
    expect([of("RIFF....WEBPVP8 "), of("RIFF....WAVEfmt "), of("RIFF....AVI LIST")]).toEqual(["image/webp", "audio/wav", null]);
    expect([of("....ftypisom"), of("....ftypM4A "), of("....ftypavif")]).toEqual(["video/mp4", "audio/mp4", "image/avif"]);
    expect([of("OggS"), of("OggS", "a.ogv"), of("\x1aE\xdf\xa3"), of("fLaC"), of("ID3\x04")]).toEqual(["audio/ogg", "video/ogg", "video/webm", "audio/flac", "audio/mpeg"]);
    expect(of("%PDF-1.7")).toBe("application/pdf");
    // Two bytes alone prove nothing, and a name without them neither.
    expect([of("BMxx"), of("BMxx", "a.bmp"), of("\xff\xfb", "a.mp3"), of("\xff\xfb"), of("<html>", "a.png"), of("", "a.png")]).toEqual([null, "image/bmp", "audio/mpeg", null, null, null]);
  });
  it("has an extension, unless its name begins with the dot", () => {
    expect([extension("a/b.TAR.GZ"), extension(".gitignore"), extension("Makefile")]).toEqual(["gz", "", ""]);
  });
});

it("keeps ends of lines, and leaves a mixed file's alone", () => {
  expect([separatorOf("a\r\nb\r\n"), separatorOf("a\r\nb\n"), separatorOf("a\n"), separatorOf("")]).toEqual(["\r\n", "\n", "\n", "\n"]);
  expect([hasLongLine("x".repeat(20_001)), hasLongLine("x\n".repeat(20_001))]).toEqual([true, false]);
});

it("refuses names that are no path of the workspace", () => {
  const taken = new Set(["a.md"]);
  expect(["notes/today.md", "ä b/ç.txt"].map((p) => problemOf(p, taken))).toEqual(["", ""]);
  for (const path of ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/.git/config", "a.md"]) expect(problemOf(path, taken), path).not.toBe("");
});

it("encodes each part of a path", () => {
  expect(filePath("c", "a b/#1?.md", { manifest: "@-1" })).toBe("/api/chats/c/workspace/files/a%20b/%231%3F.md?manifest=%40-1");
});

it("keeps what isn't saved for the tab, unless it is too large to", () => {
  const { keep } = useDrafts.getState();
  keep("c", "a.md", { text: "mine", was: "x" });
  keep("c", "big", { text: "x".repeat(300_001), was: "x" });
  expect(Object.keys(useDrafts.getState().drafts)).toEqual([draftKey("c", "a.md"), draftKey("c", "big")]);
  expect(Object.keys(JSON.parse(sessionStorage.getItem("fettle_drafts") ?? "{}").state.drafts)).toEqual(["c/a.md"]);
  keep("c", "a.md", null);
  expect(Object.keys(useDrafts.getState().drafts)).toEqual(["c/big"]);
});
