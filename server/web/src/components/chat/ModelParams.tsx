import { useMemo } from "react";
import type { Params } from "@/lib/chat/choices";
import { Button } from "@/components/ui/Button";
import { Dialog } from "@/components/ui/Dialog";
import { SchemaForm } from "@/components/ui/SchemaForm";

const levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** ModelParams sets the model's parameters for the questions that follow. `efforts` are the levels that the model takes, where they are known. */
export function ModelParams({ efforts, params, onChange, onClose }: { efforts?: string[] | undefined; params: Params; onChange(params: Params): void; onClose(): void }) {
  const schema = useMemo(
    () => ({
      type: "object",
      properties: {
        effort: { type: "string", title: "Reasoning effort", enum: efforts?.length ? efforts : levels, description: "How much the model reasons before it answers." },
        temperature: { type: "number", title: "Temperature", minimum: 0, maximum: 2, description: "From 0, the least varied, to 2." },
        max_tokens: { type: "integer", title: "Longest answer", minimum: 1, description: "In tokens, reasoning included." },
      },
    }),
    [efforts],
  );
  const done = (value: Params) => {
    onChange(value);
    onClose();
  };
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Model parameters" about="For the questions that follow. An empty field leaves it to the configuration and the model.">
      <SchemaForm schema={schema} initial={params} onSubmit={(value) => done(value as Params)}>
        <div className="flex justify-end gap-2">
          {paramsText(params) && <Button onClick={() => done({})}>Reset</Button>}
          <Button look="accent" type="submit">
            Save
          </Button>
        </div>
      </SchemaForm>
    </Dialog>
  );
}

/** paramsText lists the parameters that are set. */
export function paramsText({ effort, temperature, max_tokens }: Params): string {
  return [effort && `effort ${effort}`, temperature !== undefined && `temperature ${temperature}`, max_tokens !== undefined && `at most ${max_tokens} tokens`].filter(Boolean).join(", ");
}
