import { useId, useMemo, useRef, useState, type ReactNode } from "react";
import { cn } from "@/lib/cn";
import { fieldsOf, initialValues, readForm, type Field, type FieldValue } from "@/lib/schemaForm";

const input = "w-full rounded-md border border-border bg-bg px-3 text-sm aria-invalid:border-bad";

/**
 * SchemaForm is a form for an object that a JSON schema describes. It is sent when
 * it fits the schema, with what was typed in; `children` are its buttons.
 */
export function SchemaForm({
  schema,
  initial,
  disabled,
  onSubmit,
  children,
}: {
  schema: unknown;
  initial?: Record<string, unknown>;
  disabled?: boolean;
  onSubmit(value: Record<string, unknown>): void;
  children?: ReactNode;
}) {
  const fields = useMemo(() => fieldsOf(schema, initial), [schema, initial]);
  const [values, setValues] = useState(() => initialValues(fields));
  const [errors, setErrors] = useState<Record<string, string>>({});
  const form = useRef<HTMLFormElement>(null);

  const submit = () => {
    const read = readForm(fields, values);
    setErrors(read.errors);
    const first = fields.find((f) => read.errors[f.name]);
    if (first) form.current?.querySelector<HTMLElement>(`[data-field="${fields.indexOf(first)}"]`)?.focus();
    else onSubmit(read.value);
  };
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(e) => {
        e.preventDefault();
        if (!disabled) submit();
      }}
      className="flex flex-col gap-4"
    >
      {fields.length === 0 && <p className="text-[13px] text-muted">There is nothing to fill in.</p>}
      {fields.map((field, i) => (
        <FieldRow
          key={field.name}
          field={field}
          place={i}
          disabled={disabled}
          value={values[field.name] ?? field.initial}
          error={errors[field.name]}
          onChange={(value) => {
            setValues((v) => ({ ...v, [field.name]: value }));
            setErrors(({ [field.name]: _, ...rest }) => rest);
          }}
        />
      ))}
      {children}
    </form>
  );
}

interface RowProps {
  field: Field;
  place: number;
  value: FieldValue;
  error?: string;
  disabled?: boolean;
  onChange(value: FieldValue): void;
}

function FieldRow(props: RowProps) {
  const { field, error } = props;
  const id = useId();
  const about = [field.about, field.kind === "lines" ? "One a line." : "", field.kind === "json" ? "As JSON." : ""].filter(Boolean).join(" ");
  const described = [about && `${id}-about`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  const notes = (
    <>
      {about && <p id={`${id}-about`} dir="auto" className="text-[13px] break-words text-muted">{about}</p>}
      {error && <p id={`${id}-error`} role="alert" className="text-[13px] break-words text-bad">{error}</p>}
    </>
  );
  if (field.kind === "boolean") {
    return (
      <div className="flex flex-col gap-1">
        <label className="flex min-h-6 items-center gap-2">
          <input type="checkbox" data-field={props.place} checked={props.value === true} disabled={props.disabled} aria-describedby={described} onChange={(e) => props.onChange(e.target.checked)} className="size-4 accent-(--fettle-accent)" />
          <span dir="auto" className="break-words">{field.label}</span>
        </label>
        {notes}
      </div>
    );
  }
  if (field.kind === "choices") return <Choices {...props} notes={notes} described={described} />;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} dir="auto" className="text-[13px] font-medium break-words">
        {field.label}
        {!field.required && <span className="font-normal text-muted"> (optional)</span>}
      </label>
      <Control {...props} id={id} described={described} />
      {notes}
    </div>
  );
}

function Control({ field, place, value, error, disabled, onChange, id, described }: RowProps & { id: string; described?: string }) {
  const common = { id, disabled, "data-field": place, "aria-invalid": error ? true : undefined, "aria-required": field.required, "aria-describedby": described, value: typeof value === "string" ? value : "" };
  if (field.kind === "choice") {
    return (
      <select {...common} onChange={(e) => onChange(e.target.value)} className={cn(input, "h-9")}>
        <option value="">{field.required ? "Choose one" : "None"}</option>
        {field.options.map((o, i) => (
          <option key={i} value={i}>
            {o.label}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === "long" || field.kind === "lines" || field.kind === "json") {
    return <textarea {...common} dir="auto" rows={field.kind === "long" ? 3 : 4} spellCheck={field.kind !== "json"} onChange={(e) => onChange(e.target.value)} className={cn(input, "resize-y py-2", field.kind === "json" && "font-mono text-[13px]")} />;
  }
  const numeric = field.kind === "integer" || field.kind === "number";
  return <input {...common} type="text" dir="auto" inputMode={field.kind === "integer" ? "numeric" : numeric ? "decimal" : undefined} autoComplete="off" onChange={(e) => onChange(e.target.value)} className={cn(input, "h-9")} />;
}

function Choices({ field, place, value, disabled, onChange, notes, described }: RowProps & { notes: ReactNode; described?: string }) {
  const picked = Array.isArray(value) ? value : [];
  return (
    <fieldset aria-describedby={described} className="flex flex-col gap-1">
      <legend className="mb-1 text-[13px] font-medium">
        {field.label}
        {!field.required && <span className="font-normal text-muted"> (optional)</span>}
      </legend>
      {field.options.map((o, i) => (
        <label key={i} className="flex min-h-6 items-center gap-2">
          <input
            type="checkbox"
            data-field={i === 0 ? place : undefined}
            disabled={disabled}
            checked={picked.includes(i)}
            onChange={(e) => onChange(e.target.checked ? [...picked, i].sort((a, b) => a - b) : picked.filter((p) => p !== i))}
            className="size-4 accent-(--fettle-accent)"
          />
          <span dir="auto" className="break-words">{o.label}</span>
        </label>
      ))}
      {notes}
    </fieldset>
  );
}
