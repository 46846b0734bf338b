import { useQuery } from "@tanstack/react-query";
import { useImports } from "@/components/toolsets/importing";
import { Button } from "@/components/ui/Button";
import { useChat } from "@/hooks/useGeneralChat";
import { api, unwrap, type Schemas } from "@/lib/api/client";
import { useChoices } from "@/lib/chat/choices";
import { usePage } from "@/lib/page";

type Suggestion = Schemas["Suggestion"];

// Where the server has none of its own: they work on any model with tools.
const fallback: Suggestion[] = [
  { title: "Write a small program", message: "Write a script that counts the words of each text file in the workspace, and run it." },
  { title: "Draw a page", message: "Make index.html: a page with a clock that works without a network." },
  { title: "Explain what you can do", message: "Which tools do you have, and what is a good first thing to try with each?" },
];

/** FirstVisit is a chat without messages: three things to try. */
export function FirstVisit() {
  const send = useChat((s) => s.send);
  const page = usePage();
  const list = page.data?.suggestions.length ? page.data.suggestions.slice(0, 3) : page.isPending ? [] : fallback;
  async function ask(s: Suggestion) {
    const { model, agent } = useChoices.getState();
    await send(s.message, "text_input", undefined, { model: s.model || model || undefined, agent: s.agent || agent || undefined, uploads: s.uploads });
  }
  return (
    <div className="@container scroll-y flex min-h-0 flex-1 flex-col justify-center">
      <div className="mx-auto w-full max-w-[800px] px-4 py-6">
        <h1 className="text-xl font-semibold">What shall be done?</h1>
        <p className="mt-1 text-muted">Ask anything. What tools change in the workspace can be undone.</p>
        <ul className="mt-6 grid gap-3 @min-[640px]:grid-cols-[repeat(auto-fit,minmax(180px,1fr))]">
          {list.map((s) => (
            <li key={s.title}>
              <button type="button" onClick={() => void ask(s)} className="flex h-full w-full flex-col gap-1 rounded-xl border border-border bg-surface p-3 text-left hover:border-muted">
                <span className="text-[15px] font-medium">{s.title}</span>
                <span className="line-clamp-3 text-[13px] text-muted">{s.message}</span>
              </button>
            </li>
          ))}
        </ul>
        <Gallery />
      </div>
    </div>
  );
}

/** Gallery offers the toolsets that are part of the program, until one of them is installed. */
function Gallery() {
  const begin = useImports((s) => s.begin);
  const gallery = useQuery({ queryKey: ["toolsets", "gallery"], queryFn: async () => unwrap(await api.GET("/api/gallery")).toolsets });
  if (!gallery.data || gallery.data.some((s) => s.installed)) return null;
  return (
    <section aria-label="Toolsets" className="mt-6 border-t border-border pt-4">
      <h2 className="text-[15px] font-medium">Add tools</h2>
      <p className="text-[13px] text-muted">These need no download. You see what each contains before it is installed.</p>
      <ul className="mt-2 flex flex-wrap gap-2">
        {gallery.data.map((s) => (
          <li key={s.id}>
            <Button size="small" title={s.description} onClick={() => begin([{ name: s.name, size: 0, gallery: s.id }])}>
              {s.name}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
