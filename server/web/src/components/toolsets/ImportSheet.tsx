import { useQueryClient } from "@tanstack/react-query";
import { byteText } from "@/components/context/bytes";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { tell } from "@/components/ui/Toasts";
import { useUI } from "@/lib/ui";
import { Consent } from "./Consent";
import { installedKeys, useImports, type Importing } from "./importing";
import { Refused } from "./Refused";

/** ImportSheet asks for what a bundle wants, and tells what came of it. */
export default function ImportSheet() {
  const { now, approve, leave } = useImports();
  const client = useQueryClient();
  const setToolsets = useUI((s) => s.setToolsets);
  if (!now) return null;

  async function install() {
    if (!(await approve())) return;
    await Promise.all(installedKeys.map((key) => client.invalidateQueries({ queryKey: [key] })));
    const { now: after } = useImports.getState();
    if (after?.step !== "done") return;
    tell(`Installed ${after.plan.name} ${after.plan.version}`);
    // What it still needs stays to be read.
    if (!after.plan.variables.some((v) => v.missing)) {
      leave();
      setToolsets(true);
    }
  }

  if (now.step === "consent") return <Consent file={now.file} plan={now.plan} onApprove={() => void install()} onLeave={leave} />;
  return (
    <Dialog open onOpenChange={(open) => !open && leave()} title={titleOf(now)} wide={now.step === "refused"} footer={now.step !== "sending" && now.step !== "installing" && <Button onClick={leave}>Close</Button>}>
      {now.step === "refused" && <Refused error={now.error} name={now.file.name} />}
      {now.step === "done" && <Done importing={now} />}
      {(now.step === "sending" || now.step === "installing") && <Bar label={now.step === "sending" ? "Sending" : "Installing"} part={now.part} size={now.file.size} />}
    </Dialog>
  );
}

function titleOf(now: Importing): string {
  switch (now.step) {
    case "sending":
      return `Looking at ${now.file.name}`;
    case "installing":
      return `Installing ${now.plan.name} ${now.plan.version}`;
    case "refused":
      return `${now.file.name} can't be imported`;
    default:
      return `${now.plan.name} ${now.plan.version}`;
  }
}

function Done({ importing }: { importing: Extract<Importing, { step: "done" }> }) {
  const missing = importing.plan.variables.filter((v) => v.missing).map((v) => v.name);
  return (
    <div className="flex flex-col gap-2 text-[13px]">
      <p>{importing.plan.same ? "It is installed already, with these contents." : "It is installed."}</p>
      {missing.length > 0 && (
        <p>
          It reads <span className="font-mono">{missing.join(", ")}</span>, which {missing.length === 1 ? "is" : "are"} not set. Set {missing.length === 1 ? "it" : "them"} where <code className="font-mono">fettle serve</code> is
          started, then start it again.
        </p>
      )}
    </div>
  );
}

/** Bar shows what, how much, and how far. */
function Bar({ label, part, size }: { label: string; part: number; size: number }) {
  const sent = part >= 1;
  return (
    <div className="text-[13px]">
      <p className="mb-2 text-muted">{sent ? "Sent; it is unpacked and read…" : `${label}: ${byteText(Math.round(size * part))} of ${byteText(size)}`}</p>
      <div role="progressbar" aria-label={label} aria-valuenow={Math.round(part * 100)} aria-valuemin={0} aria-valuemax={100} className="h-1.5 overflow-hidden rounded-full bg-raised">
        <div className="h-full bg-accent transition-[width]" style={{ width: `${part * 100}%` }} />
      </div>
    </div>
  );
}
