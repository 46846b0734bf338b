import { useId } from "react";
import type { FormValues } from "@/lib/form";
import type { FormField } from "@/types/chat";

const inputTypes: Record<string, string> = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };
const box = "h-8 w-full rounded-md border border-border bg-bg px-2 text-[13px]";

/** Field is one field of a server's form, with what is wrong with it. */
export function Field({ field, value, problem, onChange }: { field: FormField; value: FormValues[string] | undefined; problem?: string; onChange(value: FormValues[string]): void }) {
  const id = useId();
  const label = field.title || field.name;
  const about = [field.description ? `${id}-about` : "", problem ? `${id}-problem` : ""].filter(Boolean).join(" ") || undefined;
  const shared = { id, "aria-describedby": about, "aria-invalid": problem ? true : undefined, "aria-required": field.required };
  return (
    <div className="flex flex-col gap-1">
      {field.type === "boolean" ? (
        <label className="flex min-h-6 items-center gap-2">
          <input {...shared} aria-required={undefined} type="checkbox" checked={value === true} onChange={(e) => onChange(e.target.checked)} className="size-4 accent-accent" />
          {label}
        </label>
      ) : field.type === "choices" ? (
        <Choices field={field} label={label} value={Array.isArray(value) ? value : []} about={about} onChange={onChange} />
      ) : (
        <>
          <label htmlFor={id} className="font-medium">
            {label}
            {!field.required && <span className="font-normal text-muted"> (optional)</span>}
          </label>
          {field.type === "choice" ? (
            <select {...shared} className={box} value={String(value ?? "")} onChange={(e) => onChange(e.target.value)}>
              <option value="">Choose</option>
              {field.options?.map((o) => (
                <option key={o.value} value={o.value}>
                  {o.title || o.value}
                </option>
              ))}
            </select>
          ) : (
            <input
              {...shared}
              className={box}
              type={field.type === "string" ? (inputTypes[field.format ?? ""] ?? "text") : "text"}
              inputMode={field.type === "integer" ? "numeric" : field.type === "number" ? "decimal" : undefined}
              step={field.format === "date-time" ? 1 : undefined} // of seconds
              value={String(value ?? "")}
              onChange={(e) => onChange(e.target.value)}
            />
          )}
        </>
      )}
      {field.description && <p id={`${id}-about`} className="text-muted">{field.description}</p>}
      {problem && <p id={`${id}-problem`} className="text-bad">{`${label} ${problem}`}</p>}
    </div>
  );
}

function Choices({ field, label, value, about, onChange }: { field: FormField; label: string; value: string[]; about?: string; onChange(value: string[]): void }) {
  return (
    <fieldset aria-describedby={about}>
      <legend className="font-medium">{label}</legend>
      {field.options?.map((o) => (
        <label key={o.value} className="flex min-h-6 items-center gap-2 py-0.5">
          <input
            type="checkbox"
            checked={value.includes(o.value)}
            onChange={(e) => onChange(e.target.checked ? [...value, o.value] : value.filter((v) => v !== o.value))}
            className="size-4 accent-accent"
          />
          {o.title || o.value}
        </label>
      ))}
    </fieldset>
  );
}
