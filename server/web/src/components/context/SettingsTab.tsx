import { Keyboard, LogOut, Package } from "lucide-react";
import { useId, type ReactNode } from "react";
import { Button } from "@/components/ui/Button";
import { Failed, Skeleton } from "@/components/ui/States";
import { tellFault } from "@/components/ui/Toasts";
import { Words } from "@/components/ui/Words";
import { request } from "@/lib/api/client";
import { forget } from "@/lib/api/token";
import { useChoices } from "@/lib/chat/choices";
import { saveBlob } from "@/lib/download";
import { usePage } from "@/lib/page";
import { useUI, type Theme } from "@/lib/ui";
import { useModels } from "./queries";
import { useSettings, type Setting } from "./server";
import { ServerList } from "./ServerList";

/** SettingsTab has what a person chooses for this page, and what the server was told. */
export function SettingsTab() {
  const { setShortcuts, setToolsets } = useUI();
  const page = usePage();
  return (
    <div className="scroll-y flex h-full flex-col gap-5 p-3 text-[13px]">
      <Section title="Look">
        <ThemeChoice />
      </Section>
      <Section title="Model">
        <ModelChoice />
      </Section>
      <Section title="MCP servers">
        <ServerList />
      </Section>
      <Section title="More">
        <div className="flex flex-wrap gap-2">
          <Button size="small" onClick={() => setToolsets(true)}>
            <Package className="size-4" aria-hidden="true" />
            Toolsets
          </Button>
          <Button size="small" onClick={() => setShortcuts(true)}>
            <Keyboard className="size-4" aria-hidden="true" />
            Shortcuts
          </Button>
        </div>
      </Section>
      <Section title="Configuration">
        <Effective />
      </Section>
      <Section title="This server">
        <p className="text-muted">fettle {page.data?.version ?? "…"}{page.data?.demo ? ", with the recorded model of the demo" : ""}</p>
        <div className="mt-2 flex flex-wrap gap-2">
          <Button size="small" onClick={() => void saveAPI()}>
            API description
          </Button>
          <Button
            size="small"
            onClick={() => {
              forget();
              location.assign("/");
            }}
          >
            <LogOut className="size-4" aria-hidden="true" />
            Forget the token
          </Button>
        </div>
        <p className="mt-2 text-muted"><Words>The token is kept for this tab alone. `fettle serve --open` opens the page with it again.</Words></p>
      </Section>
    </div>
  );
}

async function saveAPI() {
  try {
    saveBlob(await (await request("/openapi.json")).blob(), "fettle-openapi.json");
  } catch (error) {
    tellFault("The API description isn't here", error);
  }
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h3 id={id} className="mb-2 font-semibold">
        {title}
      </h3>
      {children}
    </section>
  );
}

const themes: { id: Theme; label: string }[] = [
  { id: "system", label: "As the system" },
  { id: "dark", label: "Dark" },
  { id: "light", label: "Light" },
];

function ThemeChoice() {
  const { theme, setTheme } = useUI();
  return (
    <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
      <legend className="sr-only">Theme</legend>
      {themes.map(({ id, label }) => (
        <label key={id} className="flex min-h-6 cursor-pointer items-center gap-1.5">
          <input type="radio" name="theme" checked={theme === id} onChange={() => setTheme(id)} className="accent-accent" />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function ModelChoice() {
  const models = useModels();
  const page = usePage();
  const { model, choose } = useChoices();
  const own = page.data?.model ? `The server’s: ${page.data.model}` : "The server’s choice";
  if (models.isError) return <Failed error={models.error} what="The models can't be listed" onRetry={() => void models.refetch()} />;
  const list = models.data?.models ?? [];
  return (
    <>
      <select
        aria-label="Model for new questions"
        value={model}
        onChange={(e) => choose({ model: e.target.value })}
        className="h-8 w-full rounded-md border border-border bg-bg px-2"
      >
        <option value="">{own}</option>
        {/* One that isn't there any more stays until another is chosen. */}
        {model && !list.some((m) => m.model === model) && <option value={model}>{model} (not listed)</option>}
        {list.map((m) => (
          <option key={m.model} value={m.model}>
            {m.model}
          </option>
        ))}
      </select>
      <ul className="mt-2 text-muted">
        {models.data?.providers
          .filter((p) => p.error || p.not_ready)
          .map((p) => (
            <li key={p.provider} className="break-words">
              {p.provider}: {p.error || p.not_ready}
            </li>
          ))}
      </ul>
    </>
  );
}

function Effective() {
  const settings = useSettings();
  if (settings.isPending) return <Skeleton lines={4} className="px-0" />;
  if (settings.isError) return <Failed error={settings.error} what="The configuration can't be read" onRetry={() => void settings.refetch()} />;
  const { files, profile, settings: list } = settings.data;
  return (
    <>
      <p className="mb-2 break-words text-muted">
        {files.length > 0 ? `From ${files.join(", ")}` : "No configuration file"}
        {profile ? `, profile ${profile}` : ""}. <Words>It is changed by `fettle config`, and read at the server’s start.</Words>
      </p>
      <dl className="flex flex-col gap-1.5">
        {list.map((setting) => (
          <div key={setting.key}>
            <dt className="font-mono break-all">{setting.key}</dt>
            <dd className="pl-3 break-words text-muted">
              <span className="font-mono text-ink">{valueText(setting)}</span> {setting.origin.join(", ")}
            </dd>
          </div>
        ))}
      </dl>
      {list.length === 0 && <p className="text-muted">Nothing is set: the defaults hold.</p>}
    </>
  );
}

function valueText({ value, secret }: Setting): string {
  if (secret) return "set, not shown";
  return typeof value === "string" ? value : JSON.stringify(value);
}
