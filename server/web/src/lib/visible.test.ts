import { expect, it } from "vitest";
import { visible } from "./visible";

it("writes out what turns a line around or isn't seen", () => {
  expect(visible("rm -rf ~ \u202e#txt.")).toBe("rm -rf ~ ⟨U+202E⟩#txt.");
  expect(visible("a\u200bb\u0007c\u001b[2Kd\ufeff\u{e0041}")).toBe("a⟨U+200B⟩b⟨U+0007⟩c⟨U+001B⟩[2Kd⟨U+FEFF⟩⟨U+E0041⟩");
  expect(visible("echo ok\recho no")).toBe("echo ok⟨U+000D⟩echo no");
  expect(visible("a\u200db")).toBe("a⟨U+200D⟩b");
});

it("leaves lines, tabs, letters of all scripts and emoji as they are", () => {
  const text = "one\n\ttwo\r\nשלום عربي می‌خواهم 👩‍💻 ≈ ⟨";
  expect(visible(text)).toBe(text);
});
