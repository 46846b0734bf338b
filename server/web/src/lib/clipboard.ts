import { tell, tellFault } from "@/components/ui/Toasts";

/** copy puts a text on the clipboard, and says whether it is there. */
export function copy(text: string, done = "Copied") {
  navigator.clipboard.writeText(text).then(
    () => tell(done),
    (error: unknown) => tellFault("Nothing was copied", error),
  );
}
